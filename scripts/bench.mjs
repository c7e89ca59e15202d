// `npm run bench`: sets up, then compares the built agent with cp and rsync, and measures its page in a browser.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBrowser } from './lib/browser.mjs';
import { root, runTool, SetupError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  if ((await runTool('tsc', ['-b', 'bench'])).code !== 0) throw new SetupError('The measurements could not be built.');
  const run = [join(root, 'bench', 'dist', 'bench', 'run.js'), ...args];
  const env = { ...process.env };
  // Only the page needs a browser.
  if (!args.includes('--only') || args.includes('page')) env.LOCKSTEP_CHROMIUM = await ensureBrowser();
  return spawnSync(process.execPath, run, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
});

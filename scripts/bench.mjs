// `npm run bench`: sets up, then measures the built agent beside cp and rsync.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  const run = [join(root, 'bench', 'dist', 'run.js'), ...args];
  return spawnSync(process.execPath, run, { cwd: root, stdio: 'inherit' }).status ?? 1;
});

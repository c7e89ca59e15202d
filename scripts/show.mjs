// `npm run show`: sets up, then serves the page for fifty simulated members, as a demonstration.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  const run = [join(root, 'agent', 'dist', 'sim', 'live', 'main.js'), ...args];
  return spawnSync(process.execPath, run, { cwd: root, stdio: 'inherit' }).status ?? 1;
});

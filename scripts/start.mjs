// `npm start`: the lab, some members on this machine to try Lockstep with.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  const lab = spawn(process.execPath, [join(root, 'agent', 'dist', 'cli', 'lab.js'), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  // Ctrl-C reaches the whole process group: the lab stops its members, and this process waits for it. A signal sent to this
  // process alone is passed on.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => lab.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    lab.once('error', reject);
    lab.once('close', (code) => resolve(code ?? 1));
  });
});

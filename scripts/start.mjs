// `npm start`: runs the lab, some members on this machine to try Lockstep with.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

await main(async (args) => {
  await setup();
  process.chdir(root);
  // Runs in this process, so that there is one process fewer between the terminal and the members to pass Ctrl-C on.
  const { runLab } = await import(pathToFileURL(join(root, 'agent', 'dist', 'cli', 'lab', 'lab.js')).href);
  return runLab(args);
});

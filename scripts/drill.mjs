// `npm run drill`: sets up, then injects faults into a cluster and checks that nothing is lost.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { aptInstall, canUseApt, findProgram, root, runTool, SetupError } from './lib/process.mjs';
import { main, setup } from './setup.mjs';

/** The programs that churn runs, by the name of their Debian package. The drill reports those that are missing and leaves them out. */
const programs = ['git', 'sqlite3', 'tar', 'sed', 'fio', 'stress-ng'];

await main(async (args) => {
  await setup();
  if ((await runTool('tsc', ['-b', 'drills'])).code !== 0) throw new SetupError('The drills could not be built.');
  const missing = programs.filter((name) => findProgram(name) === undefined);
  const willRun = !args.includes('--help') && !args.includes('--list');
  if (willRun && missing.length > 0 && canUseApt()) await aptInstall(missing);
  // Runs in this process, so that there is one process fewer between the terminal and the agents to pass Ctrl-C on.
  const { runDrills } = await import(pathToFileURL(join(root, 'drills', 'dist', 'drills', 'main.js')).href);
  return runDrills(args);
});

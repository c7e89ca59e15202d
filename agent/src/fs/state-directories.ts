import { errorCodeOf } from '../os/system-error.ts';
import { lstatIfThere } from './entry-stat.ts';
import { folderMissing, type PathProblem } from './path-problem.ts';
import type { Places } from './places.ts';

/** Only for the agent: these directories contain copies of files that other users may not read. */
const stateDirectoryMode = 0o700;

/**
 * Creates `staging`, `history` and `cookies` again if a user removed them, for instance to free space. `.lockstep` itself is never created:
 * without it this is not the folder that was opened. Returns a problem if one of them is missing and cannot be created.
 */
export function restoreStateDirectories(places: Places): PathProblem | undefined {
  for (const directory of [places.staging, places.history, places.cookies]) {
    try {
      const stats = lstatIfThere(places.system, directory);
      if (stats?.isDirectory() && stats.dev === places.stateIdentity.dev) continue;
      if (stats?.isDirectory()) return unusable(directory, 'another file system is mounted there');
      if (stats?.isSymbolicLink()) return unusable(directory, 'a symbolic link has its name');
      places.system.mkdir(directory, stateDirectoryMode);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === undefined) throw error;
      const why = code === 'EEXIST' ? 'something else has its name' : `it cannot be created: ${code}`;
      return code === 'ENOENT' ? folderMissing : unusable(directory, why);
    }
  }
  return undefined;
}

function unusable(directory: string, why: string): PathProblem {
  return {
    code: 'state-unusable',
    detail:
      `The directory ${directory} is needed, but ${why}. Until it exists again nothing can be written to the folder. Remove the obstacle, ` +
      "or give the agent's user permission; Lockstep then continues automatically.",
  };
}

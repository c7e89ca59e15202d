import { lstatIfThere } from './entry-stat.ts';
import { errorCodeOf, folderMissing, type PathProblem } from './path-problem.ts';
import type { Places } from './places.ts';

/** For the agent alone: what lies in these directories may come from files that others may not read. */
const stateDirectoryMode = 0o700;

/**
 * Makes `staging`, `history` and `cookies` again where somebody removed them, as people do to free space. `.lockstep` itself is never
 * made: without it this is not the folder that was opened. Returns the problem when one of them is not there and cannot be made.
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
      const why = code === 'EEXIST' ? 'something else has its name' : `it cannot be made: ${code}`;
      return code === 'ENOENT' ? folderMissing : unusable(directory, why);
    }
  }
  return undefined;
}

function unusable(directory: string, why: string): PathProblem {
  return {
    code: 'state-unusable',
    detail:
      `The directory ${directory} is needed, and ${why}. Until it is there again nothing can be put into the folder. Remove what is in ` +
      "its way, or give the agent's user permission; it goes on by itself.",
  };
}

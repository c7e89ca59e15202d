import { joinPath } from '@lockstep/shared';
import type { Descent } from '../descent.ts';
import { typeOf } from '../entry-stat.ts';
import { inTheWay, type PathProblem } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { obstacleBelow } from '../read/list-directory.ts';
import { readLinkText } from '../read/raw-name.ts';

/**
 * The problem of a path whose entry is left alone and never replaced: a socket, pipe or device, or a link whose target is not UTF-8.
 * Nothing is staged for such a path.
 */
export function obstacleAt({ system }: Places, descent: Descent, path: string): PathProblem | undefined {
  const found = descent.find(path);
  if (found === undefined) return undefined;
  const { entry, stats } = found;
  const isLeftAlone =
    typeOf(stats) === 'special' || (stats.isSymbolicLink() && readLinkText(system, entry) === undefined);
  return isLeftAlone ? inTheWay(path, path) : undefined;
}

/** The problem of a path whose directory must be removed, but contains only such entries and mount points. */
export function obstacleIn(places: Places, path: string): PathProblem | undefined {
  const obstacle = obstacleBelow(places, path);
  return obstacle === undefined ? undefined : inTheWay(path, joinPath(path, obstacle));
}

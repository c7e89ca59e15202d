import { isBelow } from '@lockstep/shared';
import { headsAtOnce, lostPaths, type Problem } from './check.ts';
import type { Machine } from './machine.ts';
import { roomyBytes } from './scenario.ts';
import { valuesOn } from './values.ts';
import type { World } from './world.ts';

/**
 * Copies: each content is on as many machines as a person wants, or on all of them. Caches that are too small hold what they can. Returns the
 * first file with fewer.
 */
export function checkCopies(world: World): Problem {
  const { remaining, scenario } = world;
  if (!scenario.setsCopies || scenario.cacheBytes < roomyBytes) return undefined;
  const lost = lostPaths(world);
  const there = remaining.map((machine) => valuesOn(machine));
  for (const { name, engine, journal } of remaining) {
    if (engine === undefined) continue;
    for (const head of journal.heads.under('', undefined, headsAtOnce)) {
      const { path, content, size } = head;
      const { wanted, full, onDemand } = engine.copies.placement.of(head);
      if (content === undefined || size === 0 || wanted === 'all' || lost.has(path)) continue;
      // Such a member has a problem: nothing can be moved to another disk in one step, or to where one is mounted.
      const keepers = [...full, ...onDemand];
      if (remaining.some((machine) => keepers.includes(machine.id) && isOnOtherDisk(machine, path))) continue;
      const count = there.filter((values) => values.has(content)).length;
      if (count < Math.min(wanted, keepers.length)) {
        return `${name} wants ${wanted} copies of ${path}, and ${count} of ${remaining.length} machines have it`;
      }
    }
  }
  return undefined;
}

/** True for a path on a disk that is mounted inside the folder, and where it is mounted. */
function isOnOtherDisk({ volume }: Machine, path: string): boolean {
  if (volume.devices.length === 0) return false;
  const roots = [...volume.disk.entries()].flatMap(([root, inode]) => (volume.devices.includes(inode) ? root : []));
  return roots.some((root) => path === root || isBelow(path, root));
}

import type { ChangedMount } from '../../sync/ports/folder.ts';
import { type Descent, descending } from '../descent.ts';
import { mountChanged, problemOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { MountCheck } from './mount-check.ts';
import { birthOf, mountPoints } from './mounts.ts';

/** Every mount of the folder that is not what is known of it. `suspects`: further paths to examine. Runs in a worker. */
export function checkMounts(places: Places, suspects: readonly string[]): readonly ChangedMount[] {
  return descending(places, (descent) => changedMounts(places, descent, suspects));
}

function changedMounts(places: Places, descent: Descent, suspects: readonly string[]): readonly ChangedMount[] {
  const accepted = new Set(places.mounts.accepted.map(({ path }) => path));
  const points = new Set(mountPoints(places));
  const changed: ChangedMount[] = [];
  // What was foreign a moment ago may be gone: only what is there now counts.
  const mounts = new MountCheck({ ...places, mounts: { ...places.mounts, foreign: [] } }, descent);
  for (const path of new Set([...accepted, ...points, ...suspects])) {
    const isNew = !accepted.has(path);
    try {
      const stats = descent.lstat(path);
      if (isNew && stats === undefined) continue;
      if (mounts.changed(path, stats) !== path && !(isNew && points.has(path))) continue;
      const birthMs = stats && birthOf(stats);
      changed.push({ path, isNew, ino: stats?.ino, birthMs, detail: mountChanged(path).detail });
    } catch (error) {
      // Nobody knows what is there: of what was accepted nothing may be said, and anything else shows itself when it is looked at.
      const { detail } = problemOf(error, path);
      if (!isNew) changed.push({ path, isNew, detail });
    }
  }
  return changed;
}

import type { ChangedMount } from '../../sync/ports/folder.ts';
import { type Descent, descending } from '../descent.ts';
import { mountChanged, problemOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { MountCheck } from './mount-check.ts';
import { birthOf, mountPoints } from './mounts.ts';

/** The mounts in the folder that differ from the known ones. `suspects`: further paths to check. Runs in a worker. */
export function checkMounts(places: Places, suspects: readonly string[]): readonly ChangedMount[] {
  return descending(places, (descent) => changedMounts(places, descent, suspects));
}

function changedMounts(places: Places, descent: Descent, suspects: readonly string[]): readonly ChangedMount[] {
  const accepted = new Set(places.mounts.accepted.map(({ path }) => path));
  const points = new Set(mountPoints(places));
  const changed: ChangedMount[] = [];
  // A mount that was foreign may be gone: only the present state counts.
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
      // The state of the path is unknown: an accepted mount counts as changed, and a new one is found by the next observation.
      const { detail } = problemOf(error, path);
      if (!isNew) changed.push({ path, isNew, detail });
    }
  }
  return changed;
}

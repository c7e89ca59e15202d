import { isBelow, isStatePath, parentOf } from '@lockstep/shared';
import { descending } from '../descent.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { absolutePath, type Places } from '../places.ts';
import type { EntryStats } from '../system-calls.ts';

/**
 * What was mounted at a path when it became a part of the folder. Device numbers are given out again at each start, so inode and birth
 * time of the mounted root tell one disk from another; where it has no birth time, the type and size of its file system do.
 */
export interface MountIdentity {
  readonly path: string;
  readonly ino: number;
  readonly birthMs?: number | undefined;
  /** As statfs(2) says. */
  readonly type: number;
  readonly blocks: number;
  /** It lies on another device than its parent: false for a bind mount of the same file system. */
  readonly isOwnDevice: boolean;
}

/** What is known of mounts inside the folder. */
export interface KnownMounts {
  /** Those that are a part of the folder. */
  readonly accepted: readonly MountIdentity[];
  /** Paths at which something is mounted that is not. */
  readonly foreign: readonly string[];
}

/** Undefined where the file system has none. A kernel without statx(2) answers the change time, which says nothing of identity. */
export function birthOf({ birthtimeMs, ctimeMs }: EntryStats): number | undefined {
  return birthtimeMs > 0 && birthtimeMs !== ctimeMs ? birthtimeMs : undefined;
}

/** True when what is at a path is the mount that is known there. `parentDev`: the device of its parent. */
export function isMounted(
  { system, root }: Places,
  known: MountIdentity,
  stats: EntryStats | undefined,
  parentDev: number,
): boolean {
  if (stats === undefined || stats.ino !== known.ino || (stats.dev !== parentDev) !== known.isOwnDevice) return false;
  const birthMs = birthOf(stats);
  if (birthMs !== undefined && known.birthMs !== undefined) return birthMs === known.birthMs;
  const { type, blocks } = system.statfs(absolutePath(root, known.path));
  return type === known.type && blocks === known.blocks;
}

/** True when an accepted mount is at another accepted path now: a directory above it was renamed. */
export function isElsewhere(
  { system, root }: Places,
  known: MountIdentity,
  accepted: Iterable<MountIdentity>,
): boolean {
  for (const other of accepted) {
    if (other.path === known.path || !isSameRoot(other, known)) continue;
    const stats = lstatIfThere(system, absolutePath(root, other.path));
    if (stats?.ino === other.ino && birthOf(stats) === other.birthMs) return true;
  }
  return false;
}

function isSameRoot(a: MountIdentity, b: MountIdentity): boolean {
  return a.ino === b.ino && a.birthMs !== undefined && a.birthMs === b.birthMs && a.type === b.type;
}

/** Paths inside the folder at which anything is mounted, as the kernel lists them. Empty where there is no /proc. */
export function mountPoints({ system, realRoot }: Places): readonly string[] {
  const found = new Set<string>();
  for (const line of system.mountTable().split('\n')) {
    const escaped = line.split(' ', 5)[4] ?? '';
    // Blanks and backslashes are written as octal numbers of their bytes.
    const bytes = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const absolute = Buffer.from(bytes, 'latin1').toString();
    if (!absolute.startsWith(`${realRoot}/`)) continue;
    const path = absolute.slice(realRoot.length + 1);
    if (!isStatePath(path)) found.add(path);
  }
  return [...found];
}

/** Mount points that are not accepted, with the one at or above each path that is covered by one. */
export function foreignAbove(places: Places): (path: string) => string | undefined {
  const accepted = new Set(places.mounts.accepted.map(({ path }) => path));
  const foreign = mountPoints(places).filter((path) => !accepted.has(path));
  return (path) => foreign.find((mount) => path === mount || isBelow(path, mount));
}

/** The directory that stands for the file system on which an absolute path lies: an accepted mount point, or the state directory. */
export function fileSystemOf({ root, state, mounts }: Places, absolute: string): string {
  let nearest = '';
  for (const { path } of mounts.accepted) {
    const mount = absolutePath(root, path);
    if ((absolute === mount || absolute.startsWith(`${mount}/`)) && mount.length > nearest.length) nearest = mount;
  }
  return nearest || state;
}

/** Absolute paths by their `fileSystemOf`: what makes one file system durable does nothing for another. */
export function byFileSystem(places: Places, absolutes: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const absolute of absolutes) {
    const fileSystem = fileSystemOf(places, absolute);
    const group = groups.get(fileSystem);
    if (group === undefined) groups.set(fileSystem, [absolute]);
    else group.push(absolute);
  }
  return groups;
}

/** What is mounted at a path now; undefined where nothing is. Runs in a worker. */
export function identifyMount(places: Places, path: string): MountIdentity | undefined {
  return descending(places, (descent) => {
    const found = descent.find(path);
    if (found === undefined) return undefined;
    const { entry, stats } = found;
    const isOwnDevice = stats.dev !== descent.directory(parentOf(path))?.stats.dev;
    if (!isOwnDevice && !mountPoints(places).includes(path)) return undefined;
    const { type, blocks } = places.system.statfs(entry);
    return { path, ino: stats.ino, birthMs: birthOf(stats), type, blocks, isOwnDevice };
  });
}

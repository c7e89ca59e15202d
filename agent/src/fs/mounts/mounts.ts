import { isBelow, isStatePath, parentOf } from '@lockstep/shared';
import { descending } from '../descent.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { absolutePath, type Places } from '../places.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import type { MountIdentity } from './mount-identity.ts';

/**
 * Types of file systems whose number is drawn when they are made: ext2 to ext4, btrfs and tmpfs. Others, such as XFS and FAT, report the
 * number of their device, which changes from boot to boot.
 */
const numberedTypes: ReadonlySet<number> = new Set([0xef53, 0x91_23_68_3e, 0x01_02_19_94]);

/** Undefined if the file system has no birth times. */
export function birthOf({ birthtimeMs }: EntryStats): number | undefined {
  return birthtimeMs > 0 ? birthtimeMs : undefined;
}

/** True if the entry at a path is the known mount. `parentDev`: the device of its parent. */
export function isMounted(
  { system, root }: Places,
  known: MountIdentity,
  stats: EntryStats | undefined,
  parentDev: number,
): boolean {
  if (stats === undefined || stats.ino !== known.ino || (stats.dev !== parentDev) !== known.isOwnDevice) return false;
  const absolute = absolutePath(root, known.path);
  const birthMs = birthOf(stats);
  if (birthMs !== undefined && known.birthMs !== undefined) {
    if (birthMs !== known.birthMs) return false;
  } else {
    const { type, blocks } = system.statfs(absolute);
    if (type !== known.type || blocks !== known.blocks) return false;
  }
  return known.fileSystemId === undefined || isNumbered(system, absolute, known.fileSystemId);
}

/** False if the number cannot be read: the mount then counts as another one until it can. */
function isNumbered(system: SystemCalls, absolute: string, number: string): boolean {
  try {
    return system.fileSystemId(absolute) === number;
  } catch {
    return false;
  }
}

/** True if an accepted mount is now at another accepted path: a directory above it was renamed. */
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

/** The mount points inside the folder, from the kernel's list. Empty without /proc. */
export function mountPoints({ system, realRoot }: Places): readonly string[] {
  const found = new Set<string>();
  for (const line of system.mountTable().split('\n')) {
    const escaped = line.split(' ', 5)[4] ?? '';
    // Spaces and backslashes are octal escapes of their bytes.
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

/** Returns a function from a path to the mount point at or above it that is not accepted. */
export function foreignAbove(places: Places): (path: string) => string | undefined {
  const accepted = new Set(places.mounts.accepted.map(({ path }) => path));
  const foreign = mountPoints(places).filter((path) => !accepted.has(path));
  return (path) => foreign.find((mount) => path === mount || isBelow(path, mount));
}

/** The directory that represents the file system of an absolute path: an accepted mount point, or the state directory. */
export function fileSystemOf({ root, state, mounts }: Places, absolute: string): string {
  let nearest = '';
  for (const { path } of mounts.accepted) {
    const mount = absolutePath(root, path);
    if ((absolute === mount || absolute.startsWith(`${mount}/`)) && mount.length > nearest.length) nearest = mount;
  }
  return nearest || state;
}

/** Groups absolute paths by `fileSystemOf`: a sync of one file system does nothing for another. */
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

/**
 * The accepted mounts once what is at `path` is one of them. A mount whose directory was renamed is now known by its new path. The same disk
 * at two paths, or a copy of it, is two mounts, and one that left its directory empty is missing there. Runs in a worker.
 */
export function acceptMount(places: Places, path: string): readonly MountIdentity[] {
  const { system, root, mounts } = places;
  const mount = identifyMount(places, path);
  const isRenamed = (known: MountIdentity): boolean =>
    known.ino === mount?.ino &&
    known.birthMs === mount.birthMs &&
    lstatIfThere(system, absolutePath(root, known.path)) === undefined;
  const others = mounts.accepted.filter((known) => known.path !== path && !isRenamed(known));
  return mount === undefined ? others : [...others, mount];
}

/** The identity of the mount at a path. Undefined if there is none. Throws if it cannot be read: any other disk of that size would pass. */
function identifyMount(places: Places, path: string): MountIdentity | undefined {
  return descending(places, (descent) => {
    const found = descent.find(path);
    if (found === undefined) return undefined;
    const { entry, stats } = found;
    const isOwnDevice = stats.dev !== descent.directory(parentOf(path))?.stats.dev;
    if (!isOwnDevice && !mountPoints(places).includes(path)) return undefined;
    const { type, blocks } = places.system.statfs(entry);
    const absolute = absolutePath(places.root, path);
    const fileSystemId = numberedTypes.has(type) ? places.system.fileSystemId(absolute) : undefined;
    return { path, ino: stats.ino, birthMs: birthOf(stats), type, blocks, fileSystemId, isOwnDevice };
  });
}

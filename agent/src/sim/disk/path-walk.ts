import { joinPath } from '@lockstep/shared';
import type { Disk } from './disk.ts';
import { DiskError } from './disk-error.ts';
import type { Inode } from './inode.ts';

/** The name of a member's folder next to its state. */
const folderName = 'folder';

/** As in the kernel. */
const linksMax = 40;

const descriptors = '/proc/self/fd/';

/** The path of an open directory, as on Linux. */
export function pathByDescriptor(fd: number): string {
  return `${descriptors}${fd}/.`;
}

/** The descriptor at the beginning of a path, and the rest of the path. Undefined if there is no descriptor. */
export function descriptorIn(path: string): { readonly fd: number; readonly name: string } | undefined {
  if (!path.startsWith(descriptors)) return undefined;
  const slash = path.indexOf('/', descriptors.length);
  const fd = Number(path.slice(descriptors.length, slash));
  const name = path.slice(slash + '/.'.length);
  if (slash < 0 || !Number.isInteger(fd) || path[slash + 1] !== '.' || (name !== '' && name[0] !== '/'))
    return undefined;
  return { fd, name: name.slice(1) };
}

/** The result of a path lookup. */
export interface Walk {
  /** In the form that `Disk` accepts. */
  readonly path: string;
  /** The last link that was followed. */
  readonly link: string | undefined;
}

/**
 * Looks up a path from a directory as the kernel does: links on the way are followed, one at the end is not. `from`: a path of the disk,
 * `/` for the top.
 */
export function walk(disk: Disk, from: string, path: string): Walk {
  // Most calls name an entry of an open directory: nothing is looked up.
  if (from !== '/' && isName(path)) return { path: joinPath(from, path), link: undefined };
  let names = namesOf(from);
  let inode = disk.at(from);
  let link: string | undefined;
  let links = 0;
  let left = path.split('/');
  for (let i = 0; i < left.length; i++) {
    const name = left[i] ?? '';
    if (name === '' || name === '.') continue;
    if (name === '..') {
      names.pop();
      inode = disk.at(pathOf(names));
      continue;
    }
    names.push(name);
    // A link at the end is not followed.
    if (i === left.length - 1) break;
    // Nothing is mounted over the folder itself.
    inode = names.length === 1 && name === folderName ? disk.root : disk.childOf(inode, name);
    const target = inode?.target;
    if (target === undefined) continue;
    link = pathOf(names);
    links += 1;
    if (links > linksMax) throw new DiskError('ELOOP', path);
    names = target.startsWith('/') ? [] : names.slice(0, -1);
    inode = disk.at(pathOf(names));
    left = [...target.split('/'), ...left.slice(i + 1)];
    i = -1;
  }
  return { path: pathOf(names), link };
}

/** True for one component that is not special. */
function isName(path: string): boolean {
  return path !== '' && path !== '.' && path !== '..' && !path.includes('/');
}

/** The present path of a directory that was opened at `path`. Undefined if it was removed. */
export function placeOf(
  disk: Disk,
  { inode, path }: { readonly inode: Inode; readonly path: string },
): string | undefined {
  if (disk.at(path) === inode) return path;
  for (const top of ['', '/elsewhere']) {
    for (const [place, at] of disk.entries(top)) if (at === inode) return place;
  }
  return undefined;
}

function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  return path.startsWith('/') ? names : [folderName, ...names];
}

/** A path of the folder is relative to it. */
function pathOf(names: readonly string[]): string {
  return names[0] === folderName ? names.slice(1).join('/') : `/${names.join('/')}`;
}

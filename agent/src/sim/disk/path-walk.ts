import type { Disk } from './disk.ts';
import { DiskError } from './disk-error.ts';
import type { Inode } from './inode.ts';

/** The name of a member's folder next to its state. */
const folderName = 'folder';

/** As in the kernel. */
const linksMax = 40;

/** The path of an open directory, as on Linux. */
export function pathByDescriptor(fd: number): string {
  return `/proc/self/fd/${fd}/.`;
}

/** The descriptor at the beginning of a path, and the rest of the path. Undefined if there is no descriptor. */
export function descriptorIn(path: string): { readonly fd: number; readonly name: string } | undefined {
  const [, fd, name = ''] = /^\/proc\/self\/fd\/(\d+)\/\.(?:\/(.*))?$/s.exec(path) ?? [];
  return fd === undefined ? undefined : { fd: Number(fd), name };
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
  let names = namesOf(from);
  let link: string | undefined;
  let links = 0;
  const left = path.split('/');
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      names.pop();
      continue;
    }
    names.push(name);
    const target = left.length === 0 ? undefined : disk.at(pathOf(names))?.target;
    if (target === undefined) continue;
    link = pathOf(names);
    links += 1;
    if (links > linksMax) throw new DiskError('ELOOP', path);
    names = target.startsWith('/') ? [] : names.slice(0, -1);
    left.unshift(...target.split('/'));
  }
  return { path: pathOf(names), link };
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

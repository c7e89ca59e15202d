import { nodeSystemCalls } from '../../fs/node-system-calls.ts';
import { caseFolding, foldsCase } from '../../fs/open-folder.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import { readProc } from './proc.ts';
import type { Subject } from './subject.ts';

const { ok, warn } = resultsOf('file system');

export const mountinfoFile = '/proc/self/mountinfo';

interface Kind {
  readonly pattern: RegExp;
  /** The consequence, as the end of a sentence that begins with the file system's name. */
  readonly means: string;
  readonly remedy: string;
}

const ownDisk = 'Put the folder on a disk of this machine, and let Lockstep replicate it to the others.';

const kinds: readonly Kind[] = [
  {
    pattern: /^(nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|glusterfs|lustre|virtiofs|davfs)$/,
    means:
      'is on another machine: a change made there raises no event here and is found only by the scan of the whole folder',
    remedy: ownDisk,
  },
  {
    pattern: /^fuse(blk)?(\.|$)/,
    means:
      'is served by a program: a change that does not go through this mount raises no event and is found only by the scan of the whole folder',
    remedy: ownDisk,
  },
  {
    pattern: /^(tmpfs|ramfs)$/,
    means: 'is kept in memory: everything in it is gone after a restart, and the member with it',
    remedy: 'Put the folder on a disk.',
  },
  {
    pattern: /^(vfat|msdos|exfat)$/,
    means: 'keeps no permissions and no links: they cannot be the same here as on the other members',
    remedy: 'Put the folder on ext4, xfs, btrfs or another file system of Unix.',
  },
];

/** Decodes a path of mountinfo, in which the kernel writes blanks as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The file system that a path is on. */
export interface FileSystem {
  readonly type: string;
  /** Those of the file system itself, such as `rw`, and of ext4 `emergency_ro` after an error. */
  readonly options: readonly string[];
}

/**
 * The file system that `path` is on, from the text of `/proc/self/mountinfo`: that of the innermost mount, and of those the last.
 */
export function fileSystemOf(path: string, mountinfo: string): FileSystem | undefined {
  let found: (FileSystem & { readonly point: string }) | undefined;
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = unescaped(before.split(' ')[4] ?? '');
    const [type, , options = ''] = after.split(' ');
    const isAbove = point === '/' || path === point || path.startsWith(`${point}/`);
    if (point === '' || type === undefined || !isAbove || point.length < (found?.point.length ?? 0)) continue;
    found = { point, type, options: options.split(',') };
  }
  return found;
}

/** The result for a file system of this type. */
export function judgeFileSystem(type: string): CheckResult {
  const kind = kinds.find(({ pattern }) => pattern.test(type));
  return kind === undefined
    ? ok(`The folder is on ${type}.`)
    : warn(`The folder is on ${type}, which ${kind.means}.`, kind.remedy);
}

/** Checks that the folder is on a file system that reports every change and keeps the files. */
export async function checkFileSystem({ directory, state }: Subject): Promise<readonly CheckResult[]> {
  const found = fileSystemOf(directory, (await readProc(mountinfoFile)) ?? '');
  const results = found === undefined ? [] : [judgeFileSystem(found.type)];
  if (foldsCase(nodeSystemCalls(), state)) results.push(warn(caseFolding.what, caseFolding.remedy));
  return results;
}

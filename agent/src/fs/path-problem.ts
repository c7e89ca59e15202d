import type { ProblemCode } from '@lockstep/shared';
import { shellWord } from '../os/shell-word.ts';
import { errorCodeOf } from '../os/system-error.ts';

/** A problem of one path: a code and a sentence. */
export interface PathProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  /** The mount point that the problem is about. */
  readonly mount?: string;
}

/** The errors of a file system without symbolic links: those of the kernel, and of a FUSE program. */
const noLinkCodes: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP']);

/** The calls that give an entry of the folder its name. */
const namingCalls: ReadonlySet<string | undefined> = new Set(['rename', 'link', 'mkdir']);

/** The errors of these calls for a name that the file system refuses, such as `a:b` on FAT. */
const noNameCodes: ReadonlySet<string | undefined> = new Set(['EINVAL', 'EILSEQ']);

/** The problem that a system error at `path` means for a user. Any other error is a bug: it is thrown again. */
export function problemOf(error: unknown, path: string): PathProblem {
  const errorCode = errorCodeOf(error);
  if (errorCode === undefined) throw error;
  const shown = path || 'the folder';
  const subject = path || 'The folder';
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'symlink' && noLinkCodes.has(errorCode)) return noLinks(path);
  if (namingCalls.has(syscall) && noNameCodes.has(errorCode)) return noSuchName(path);
  switch (errorCode) {
    case 'EACCES':
      return {
        code: 'path-permission',
        detail: `${subject} cannot be read or written: give the agent's user permission for it and its directory.`,
      };
    case 'EPERM':
      return {
        code: 'path-permission',
        detail:
          `${subject} cannot be changed: give it to the agent's user. If lsattr shows i or a for it or its directory, as root: ` +
          'chattr -ia.',
      };
    case 'EROFS':
      return {
        code: 'path-permission',
        detail:
          `${subject} is on a disk that is mounted read-only: mount it for writing. If the system did that after an error (dmesg), ` +
          'check the disk first. In a read-only subvolume of btrfs: btrfs property set SUBVOLUME ro false.',
      };
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        code: 'disk-full',
        detail: `There is no room for ${shown}. Free some space; Lockstep tries again automatically.`,
      };
    case 'ENAMETOOLONG':
      return { code: 'path-too-long', detail: `${subject} is longer than this file system allows: shorten it.` };
    case 'EXDEV':
      return {
        code: 'path-in-the-way',
        detail: `${subject} is on another file system than .lockstep, or on another mount of it, so nothing can be moved there or away in one step. Repeat the change of the other members there by hand, or keep that disk outside the folder.`,
      };
    case 'EBUSY':
      return {
        code: 'path-in-the-way',
        detail: `${subject} is in use by the system, as a mount point for instance, and cannot be removed or replaced: unmount it.`,
      };
    case 'EFBIG':
      return {
        code: 'file-too-large',
        detail: `${subject} is larger than this file system or a limit (ulimit -f) allows.`,
      };
    case 'EAGAIN':
      return {
        code: 'path-io',
        detail: `Another program has a lease on ${shown}, as file servers do (Samba, NFS). Lockstep tries again until it is released.`,
      };
    case 'EMFILE':
    case 'ENFILE':
      return {
        code: 'path-io',
        detail: `${subject} cannot be opened, because too many files are open (${errorCode}): raise the limit (ulimit -n, or LimitNOFILE of the service).`,
      };
    case 'EBADMSG':
    case 'EUCLEAN':
      return {
        code: 'path-io',
        detail:
          `The file system is damaged at ${shown} (${errorCode}), and cannot be read there. Stop the agent, unmount the disk, and repair it ` +
          'with fsck; the disk may be failing (dmesg).',
      };
    default:
      return { code: 'path-io', detail: `The disk answered ${errorCode} for ${shown}: check the disk.` };
  }
}

/** The problem of a path whose place is taken by an entry that Lockstep never removes. */
export function inTheWay(path: string, obstacle: string): PathProblem {
  return {
    code: 'path-in-the-way',
    detail:
      `A socket, pipe, device or mount point is at ${obstacle}: move it away or unmount it. Then the entry that belongs at ${path} is put ` +
      'there.',
  };
}

/** The problem of a link on a file system without links: symlink(2) is called in `.lockstep/staging` alone, which no attribute protects. */
function noLinks(path: string): PathProblem {
  return {
    code: 'path-permission',
    detail:
      `${path} is a symbolic link, and the file system of this folder allows none. Remove the link on a member that has it, or move this ` +
      'folder to ext4, xfs or btrfs.',
  };
}

/** The problem of an entry whose name the file system of the folder refuses. */
export function noSuchName(path: string): PathProblem {
  return {
    code: 'path-permission',
    detail:
      `The file system of this folder does not allow the name of ${path}: FAT, exFAT and NTFS allow none of \\ : * ? " < > |. Rename it on ` +
      'a member that has it, or move this folder to ext4, xfs or btrfs.',
  };
}

/** The problem of an entry at the path of this member's state directory. */
export function reserved(path: string): PathProblem {
  return { code: 'path-reserved', detail: `${path} is reserved for Lockstep: nothing is replicated there.` };
}

/** The problem of an entry whose name differs from an existing one only in case, on a file system that folds case. */
export function sameName(path: string): PathProblem {
  return {
    code: 'path-in-the-way',
    detail:
      `The file system of this folder cannot distinguish ${path} from another name that differs only in capital letters. Rename one of ` +
      'the two on a member that has both, then this one is put in its place.',
  };
}

/** The problem of all paths if the folder is not the one that was opened. */
export const folderMissing: PathProblem = {
  code: 'folder-missing',
  detail:
    'The folder or its .lockstep is gone or is not the one that was opened. Mount it, or put it back; nothing is deleted meanwhile.',
};

/** The problem of the folder as a whole, if the system answered with an error when it or its `.lockstep` was examined. */
export function folderUnusable(error: unknown): PathProblem {
  const code = errorCodeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return folderMissing;
  return { code: 'folder-missing', detail: `${problemOf(error, '').detail} Nothing is deleted meanwhile.` };
}

/** The problem of all paths at and below a mount point whose mount is missing or another one. */
export function mountChanged(mount: string): PathProblem & { readonly mount: string } {
  const detail =
    `The disk that was seen at ${mount} is missing, or another one is there. Nothing at or below ${mount} is read, written or deleted ` +
    'meanwhile. Mount the disk as before. If the present state is right, and missing files are to be deleted on all members: ' +
    `lockstep accept-mount ${shellWord(mount)}`;
  return { code: 'mount-changed', detail, mount };
}

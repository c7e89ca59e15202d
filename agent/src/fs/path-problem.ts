import type { ProblemCode } from '@lockstep/shared';
import { shellWord } from '../shell-word.ts';

/** Trouble with one path: a code and a sentence. */
export interface PathProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  /** The mount point that the problem is about. */
  readonly mount?: string;
}

/** The `code` of a system error, as in `ENOENT`; undefined for anything else that was thrown. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Says what a system error at `path` means to a person. Whatever is not a system error is a mistake of ours: it is thrown on. */
export function problemOf(error: unknown, path: string): PathProblem {
  const errorCode = errorCodeOf(error);
  if (errorCode === undefined) throw error;
  const shown = path === '' ? 'The folder' : path;
  switch (errorCode) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return {
        code: 'path-permission',
        detail: `${shown} cannot be read or written: give the agent's user permission.`,
      };
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        code: 'disk-full',
        detail: `There is no room for ${shown}. Free some space; it is tried again by itself.`,
      };
    case 'ENAMETOOLONG':
      return { code: 'path-too-long', detail: `${shown} is longer than this file system allows: shorten it.` };
    case 'EXDEV':
      return {
        code: 'path-in-the-way',
        detail: `${shown} lies on another file system than .lockstep, so nothing can be moved there or away in one step. Do there by hand what the others did, or keep that disk outside the folder.`,
      };
    case 'EBUSY':
      return {
        code: 'path-in-the-way',
        detail: `${shown} is in use by the system, as a mount point for instance, and cannot be removed or replaced: unmount it.`,
      };
    case 'EFBIG':
      return { code: 'file-too-large', detail: `${shown} is larger than this file system allows.` };
    default:
      return { code: 'path-io', detail: `The disk answered ${errorCode} for ${shown}: check the disk.` };
  }
}

/** The problem of an entry that must go where something stands that is no business of ours. */
export function inTheWay(path: string, obstacle: string): PathProblem {
  return {
    code: 'path-in-the-way',
    detail:
      `A socket, pipe, device or mount point stands at ${obstacle}: move it away or unmount it, then what belongs at ${path} is put ` +
      'there.',
  };
}

/** The problem of an entry whose place is this member's state directory. */
export function reserved(path: string): PathProblem {
  return { code: 'path-reserved', detail: `${path} is for Lockstep alone: nothing is put there.` };
}

/** The problem of an entry whose name the file system does not tell from that of another one. */
export function sameName(path: string): PathProblem {
  return {
    code: 'path-in-the-way',
    detail:
      `The file system of this folder does not tell ${path} from another name that differs only in capital letters. Rename one of ` +
      'the two on a member that has both, then this one is put in its place.',
  };
}

/** The problem of everything in a folder that is not the one that was opened. */
export const folderMissing: PathProblem = {
  code: 'folder-missing',
  detail:
    'The folder or its .lockstep is gone or is not the one that was opened. Mount it, or put it back; nothing is deleted meanwhile.',
};

/** The problem of everything at and below a mount point where something else is mounted than was seen there, or nothing. */
export function mountChanged(mount: string): PathProblem & { readonly mount: string } {
  const detail =
    `The disk that was seen at ${mount} is not there, or another one is. Nothing at or below ${mount} is read, written or deleted ` +
    'meanwhile. Mount the disk as before. If what is there now is right, and what is missing is to be deleted on all members: ' +
    `lockstep accept-mount ${shellWord(mount)}`;
  return { code: 'mount-changed', detail, mount };
}

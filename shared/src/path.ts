import type { MemberId } from './ids.ts';
import { nameBytesMax, pathBytesMax } from './limits.ts';

/** The state directory's name. No entry of this name is ever replicated, at whatever depth: another member's keys may lie in it. */
export const stateDirectoryName = '.lockstep';

const memberPathPrefix = `${stateDirectoryName}/member/`;

/** The pseudo-path of a member's entry in the member list. It lies below `.lockstep`, so no file can have it. */
export function memberPath(member: MemberId): string {
  return memberPathPrefix + member;
}

export function isMemberPath(path: string): boolean {
  return path.startsWith(memberPathPrefix);
}

/** What every spelling of the state directory's name has in it, or a character that may stand for a part of it. */
const mayBeStateName = /lockst|lo[0-9a-f]{4}~|[^\0-\x7f]/i;

/** The 8.3 names that FAT and NTFS give to it: the first ones by number, later ones with four digits of a hash. */
const shortStateName = /^(?:lockst|lo[0-9a-f]{4})~[0-9]{1,5}$/;

/**
 * True when `name` is `.lockstep` on this or another file system: such that fold case, compose or decompose characters, leave out
 * those that cannot be seen, drop dots and blanks at the end, know streams (`.lockstep::$DATA`), or give 8.3 names. A name that
 * one member may have is reserved on all of them: on another one it would be that member's keys.
 */
export function isStateName(name: string): boolean {
  if (!mayBeStateName.test(name)) return false;
  const folded = foldName(name);
  return folded === stateDirectoryName || shortStateName.test(folded);
}

function foldName(name: string): string {
  const [file = ''] = name.normalize('NFKD').split(':');
  // Capitals first: the long s has one, and is no capital of any letter. Again afterwards: capitals may be composed.
  const folded = file.toUpperCase().toLowerCase().normalize('NFKD');
  return folded.replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, '').replace(/[.\s]+$/u, '');
}

/** True when `path` is a state directory, this member's or another's inside the folder, or lies in one, however that is spelled. */
export function isStatePath(path: string): boolean {
  return mayBeStateName.test(path) && path.split('/').some(isStateName);
}

const encoder = new TextEncoder();

/** Says why `path` may not name a replicated entry, or undefined when it may. */
export function pathFault(path: string): string | undefined {
  return carriedPathFault(path) ?? (isStatePath(path) ? `lies inside ${stateDirectoryName}` : undefined);
}

/**
 * Says why an operation may not carry `path`, or undefined when it may. Whatever a peer sends passes through here before it
 * comes near the disk (rule Confined). A state directory deeper in the folder, or one that is spelled otherwise, passes: journals
 * may hold some from when these were replicated, and could not be sent any more. They are known, and shown nowhere [WT7].
 */
export function carriedPathFault(path: string): string | undefined {
  if (path.length === 0) return 'is empty';
  if (path.length * 3 > pathBytesMax && encoder.encode(path).length > pathBytesMax) {
    return `is longer than ${pathBytesMax} bytes`;
  }
  if (path.includes('\0')) return 'contains a NUL character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  for (const name of path.split('/')) {
    if (name === '') return 'has an empty component';
    if (name === '.' || name === '..') return `has a component ${name}`;
    if (name.length * 3 > nameBytesMax && encoder.encode(name).length > nameBytesMax) {
      return `has a name longer than ${nameBytesMax} bytes`;
    }
  }
  if (path === stateDirectoryName || path.startsWith(`${stateDirectoryName}/`)) {
    return `lies inside ${stateDirectoryName}`;
  }
  return undefined;
}

/** The directory that holds `path`; the empty string is the folder itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** The last component. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `directory/name`, where the empty string is the folder itself. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** True when `path` lies below `directory`. */
export function isBelow(path: string, directory: string): boolean {
  return directory === '' ? path !== '' : path.startsWith(`${directory}/`);
}

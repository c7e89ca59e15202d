import type { MemberId } from './ids.ts';
import { nameBytesMax, pathBytesMax } from './limits.ts';

/** The state directory's name. No entry of this name is ever replicated, at any depth: another member's keys may be in it. */
export const stateDirectoryName = '.lockstep';

const memberPathPrefix = `${stateDirectoryName}/member/`;

/** The pseudo-path of a member's entry in the member list. It is below `.lockstep`, so no file can have it. */
export function memberPath(member: MemberId): string {
  return memberPathPrefix + member;
}

export function isMemberPath(path: string): boolean {
  return path.startsWith(memberPathPrefix);
}

/** A part of every spelling of the state directory's name, or a character that may replace a part of it. */
const mayBeStateName = /lockst|lo[0-9a-f]{4}~|[^\0-\x7f]/i;

/** The 8.3 names that FAT and NTFS give it: the first ones by number, later ones with four digits of a hash. */
const shortStateName = /^(?:lockst|lo[0-9a-f]{4})~[0-9]{1,5}$/;

/**
 * True when `name` is `.lockstep` on this or another file system. Some fold case, compose or decompose characters, ignore invisible ones,
 * drop dots and blanks at the end, know streams (`.lockstep::$DATA`), or give 8.3 names. A name that one member may have is reserved on
 * all: on another one it would be that member's keys.
 */
export function isStateName(name: string): boolean {
  if (!mayBeStateName.test(name)) return false;
  const folded = foldName(name);
  return folded === stateDirectoryName || shortStateName.test(folded);
}

function foldName(name: string): string {
  const [file = ''] = name.normalize('NFKD').split(':');
  // Upper case first: it turns the long s into S, which lower case alone would leave. NFKD again afterwards: capitals may be composed.
  const folded = file.toUpperCase().toLowerCase().normalize('NFKD');
  return folded.replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, '').replace(/[.\s]+$/u, '');
}

/** True when `path` is a state directory, this member's or another's inside the folder, or is in one, in any spelling. */
export function isStatePath(path: string): boolean {
  return mayBeStateName.test(path) && path.split('/').some(isStateName);
}

const encoder = new TextEncoder();

/** The reason why `path` may not name a replicated entry, as a sentence without its subject; undefined if it may. */
export function pathFault(path: string): string | undefined {
  return carriedPathFault(path) ?? (isStatePath(path) ? `lies inside ${stateDirectoryName}` : undefined);
}

/**
 * The reason why an operation may not have `path`, as a sentence without its subject; undefined if it may. Every path from a peer is
 * checked here before it reaches the disk (rule Confined). A state directory deeper in the folder, or in another spelling, passes. Journals
 * may hold some from when these were replicated, and could not be sent otherwise. They are known and never shown [WT7].
 */
export function carriedPathFault(path: string): string | undefined {
  if (path.length === 0) return 'is empty';
  const fault = lengthFault(path);
  if (fault !== undefined) return fault;
  if (path.includes('\0')) return 'contains a NUL character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  for (const name of path.split('/')) {
    if (name === '') return 'has an empty name in it';
    if (name === '.' || name === '..') return `contains "${name}" as a name`;
  }
  if (path === stateDirectoryName || path.startsWith(`${stateDirectoryName}/`)) {
    return `lies inside ${stateDirectoryName}`;
  }
  return undefined;
}

/** Says that an entry is not replicated because its path is too long; undefined if it is not. */
export function tooLongText(path: string): string | undefined {
  const fault = lengthFault(path);
  return fault && `The path ${path} ${fault}. It is left alone; shorten it to have it replicated.`;
}

/** The reason why `path` is too long to be replicated, as a sentence without its subject; undefined if it is not. */
function lengthFault(path: string): string | undefined {
  if (isLonger(path, pathBytesMax)) return `is longer than ${pathBytesMax} bytes`;
  if (path.split('/').some((name) => isLonger(name, nameBytesMax)))
    return `has a name longer than ${nameBytesMax} bytes`;
  return undefined;
}

function isLonger(text: string, bytes: number): boolean {
  // No UTF-16 unit takes more than three bytes.
  return text.length * 3 > bytes && encoder.encode(text).length > bytes;
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

/** `directory/name`; the empty string is the folder itself. */
export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** True when `path` is below `directory`. */
export function isBelow(path: string, directory: string): boolean {
  return directory === '' ? path !== '' : path.startsWith(`${directory}/`);
}

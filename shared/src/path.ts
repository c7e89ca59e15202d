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

/** True when `path` is a state directory, this member's or another's inside the folder, or lies in one. */
export function isStatePath(path: string): boolean {
  return path.includes(stateDirectoryName) && path.split('/').includes(stateDirectoryName);
}

const encoder = new TextEncoder();

/** Says why `path` may not name a replicated entry, or undefined when it may. */
export function pathFault(path: string): string | undefined {
  return carriedPathFault(path) ?? (isStatePath(path) ? `lies inside ${stateDirectoryName}` : undefined);
}

/**
 * Says why an operation may not carry `path`, or undefined when it may. Whatever a peer sends passes through here before it
 * comes near the disk (rule Confined). A state directory deeper in the folder passes: journals may hold some from when these
 * were replicated, and would be cut off for ever. They are known, and shown nowhere [WT5].
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

import type {
  LoggedOperation,
  OperationReport,
  PathReport,
  PathVersion,
  Status,
  TreeEntry,
  TreePage,
  VersionsPage,
} from '@lockstep/shared/api';
import { formatNames } from '@lockstep/shared/present';
import { type Order, sortedBy } from './order.ts';

/** The part of a directory that was read so far. */
export interface Listing {
  readonly entries: readonly TreeEntry[];
  readonly total: number;
  /** The start of the next page; null when everything was read. */
  readonly next: string | null;
}

/** `listing` with one page more. */
export function extendListing(listing: Listing | undefined, page: TreePage): Listing {
  return { entries: [...(listing?.entries ?? []), ...page.entries], total: page.total, next: page.next };
}

/** The largest page that the agent serves. */
export const pageEntriesMax = 1_000;

/**
 * The entries in the order of display. By name directories are first, as in other file managers. A directory larger than a page is by name
 * alone, because it is read page by page during scrolling; for another order it is read whole.
 */
export function shownEntries({ entries, total, next }: Listing, order: Order = 'name'): readonly TreeEntry[] {
  if (order !== 'name') return next === null ? sortedBy(entries, order) : entries;
  if (total > pageEntriesMax) return entries;
  const isDirectory = ({ type }: TreeEntry): boolean => type === 'directory';
  return [...entries.filter(isDirectory), ...entries.filter((entry) => !isDirectory(entry))];
}

/** The number of rows to reserve, including unread entries, so that the scroll bar has the right size. */
export function rowsOf({ entries, total, next }: Listing): number {
  return next === null ? entries.length : Math.max(total, entries.length + 1);
}

/** A text that changes whenever an entry or its holders may have changed. */
export function treeTrigger({ operations, pending, members }: Status): string {
  return [operations, pending, ...members.map(({ state, behind }) => `${state}${behind}`)].join(' ');
}

/** The directories above `path`, from the top, and `path` itself. */
export function trailOf(path: string): readonly { readonly name: string; readonly path: string }[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The type of the entry at a path whose visible head is `head`. */
export function typeOf(head: OperationReport): TreeEntry['type'] | 'absent' {
  switch (head.kind) {
    case 'delete':
      return 'absent';
    case 'mkdir':
      return 'directory';
    case 'symlink':
      return 'symlink';
    case 'attr':
      return head.content === undefined ? 'directory' : 'file';
    default:
      return 'file';
  }
}

/** Whether the path is a directory or, `withDeleted`, was one when it was deleted. */
export function isOrWasDirectory({ heads: [head], log }: PathReport, withDeleted: boolean): boolean {
  if (head === undefined) return false;
  if (typeOf(head) !== 'absent') return typeOf(head) === 'directory';
  const last = withDeleted ? log.find((each) => typeOf(each) !== 'absent') : undefined;
  return last !== undefined && typeOf(last) === 'directory';
}

/** The effect of an operation, in the past tense, before `by ant`. */
export function deedOf({ kind, from, replaced, conflict }: LoggedOperation): string {
  if (conflict !== undefined)
    return conflict.version === 'kept' ? 'Kept in a conflict: written' : 'Copied in a conflict: written';
  if (from !== undefined) return 'Renamed';
  switch (kind) {
    case 'delete':
      return 'Deleted';
    case 'mkdir':
      return 'Folder made';
    case 'symlink':
      return 'Link written';
    case 'attr':
      return 'Permissions or time changed';
    default:
      return replaced === undefined ? 'Written' : 'Changed';
  }
}

/**
 * The versions of the path, newest first: those of `page`, which says who has each, and before them what was journaled since. The page is
 * older than the report while a member is asked that does not answer. Of a version that was current then it does not say where it is now.
 */
export function shownVersions(
  { path, heads: [head], log }: PathReport,
  page: VersionsPage | undefined,
): readonly (LoggedOperation | PathVersion)[] {
  if (page?.path !== path) return log;
  const newest = page.versions[0]?.row ?? 0;
  const known = page.versions.map((version) => {
    const isCurrent = head !== undefined && version.version === `${head.origin}:${head.seq}`;
    if (isCurrent === version.isCurrent) return version;
    return log.find(({ row }) => row === version.row) ?? { ...version, isCurrent };
  });
  return [...log.filter(({ row }) => row > newest), ...known];
}

/** The places that have the content of a version; `self` is the member that serves the page. */
export function placesOf({ type, content, size, place, members, isCurrent }: PathVersion, self: string): string {
  if (type === 'absent') return '';
  const now = isCurrent ? 'Current version. ' : '';
  // An empty file can be had without a member that has it.
  if (content === undefined || size === 0) return now.trim();
  const here = place === null ? [] : [place === 'folder' ? `in the folder of ${self}` : `in the history of ${self}`];
  const holders = [...here, ...(members.length === 0 ? [] : [`on ${formatNames(members.map(({ name }) => name))}`])];
  if (holders.length === 0) return `${now}No member that is up has it any more`;
  const text = holders.join(', and ');
  return `${now}${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Up to two letters that stand for a member where there is no room for its name. */
export function initialsOf(name: string): string {
  const parts = name.split(/[\s._-]+/u).filter((part) => part !== '');
  const [first = '', last = ''] = [parts.at(0), parts.length > 1 ? parts.at(-1) : ''];
  return (([...first][0] ?? '') + ([...last][0] ?? '')).toUpperCase();
}

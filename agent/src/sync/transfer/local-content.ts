import { type ContentId, isBelow } from '@lockstep/shared';
import type { DiskEntry, Fingerprint } from '../../core/entry.ts';
import type { ContentSource } from '../ports/folder.ts';
import type { Journal } from '../ports/journal.ts';
import type { Context } from '../state/context.ts';

/** Number of files considered as a source of their content; more while a changed mount hides some. */
const filesMax = 4;
const hiddenFilesMax = 64;

/** A row of `disk` whose file shows a content. */
export type ShownFile = DiskEntry & { readonly fingerprint: Fingerprint };

/**
 * Rows of some files of this member that hold `content`, those that are certain first. Files below a mount that is not the accepted
 * one are left out.
 */
export function filesWith(
  { journal, problems }: Pick<Context, 'journal' | 'problems'>,
  content: ContentId,
): readonly ShownFile[] {
  const hidden = hiddenPaths(problems);
  const rows = journal.disk.withContent(content, hidden.length === 0 ? filesMax : hiddenFilesMax);
  const shown = rows.filter((row): row is ShownFile => isShown(row, hidden));
  // A racy row may be wrong. A reader verifies the content id, and a failed read costs less than a request to other members.
  return [...shown.filter(({ racy }) => !racy), ...shown.filter(({ racy }) => racy)];
}

/** The mount points whose mount is not the accepted one. */
export function hiddenPaths(problems: Context['problems']): readonly string[] {
  return problems.list().flatMap(({ code, path }) => (code === 'mount-changed' && path ? [path] : []));
}

/** True for the row of an entry that exists and is not hidden. */
export function isShown(row: DiskEntry, hidden: readonly string[]): row is ShownFile {
  return row.fingerprint !== undefined && !isCovered(row, hidden);
}

/** True if a file of this member with the content is at or below one of these mount points. */
export function isBelowMount(journal: Journal, content: ContentId, mounts: readonly string[]): boolean {
  const rows = journal.disk.withContent(content, hiddenFilesMax);
  return rows.some((row) => row.fingerprint !== undefined && isCovered(row, mounts));
}

function isCovered({ path }: DiskEntry, mounts: readonly string[]): boolean {
  return mounts.some((mount) => path === mount || isBelow(path, mount));
}

/** The file of a row as a source of its content. */
export function fileSource({ path, fingerprint }: ShownFile): ContentSource {
  return { from: 'file', path, fingerprint };
}

/** True if a head has `content` and no file of this member does. */
export function isWanted(journal: Journal, content: ContentId): boolean {
  return journal.heads.withContent(content) !== undefined && journal.disk.withContent(content, 1).length === 0;
}

/** The places of a content on this machine: in memory since it was received, staged, in a file of the folder, or in history. */
type Place = 'received' | 'staged' | 'folder' | 'history';

/**
 * The sources of a content on this machine, place by place in this order. `has` tells whether staging and history have it; by default they
 * may, and a reader finds out.
 */
export function* sourcesHere(
  context: Pick<Context, 'journal' | 'problems' | 'receivedBytesCache'>,
  content: ContentId,
  order: readonly Place[],
  has: { readonly staged?: () => boolean; readonly history?: () => boolean } = {},
): Iterable<ContentSource> {
  for (const place of order) {
    if (place === 'folder') yield* filesWith(context, content).map(fileSource);
    else if (place === 'received') {
      const bytes = context.receivedBytesCache.get(content);
      if (bytes !== undefined) yield { from: 'bytes', bytes };
    } else if (has[place]?.() ?? true) yield { from: place };
  }
}

/** The first of these places on this disk that has the content. Undefined if none has. */
export async function findHere(
  context: Pick<Context, 'journal' | 'problems' | 'receivedBytesCache' | 'folder'>,
  content: ContentId,
  order: readonly ('folder' | 'history')[],
): Promise<ContentSource | undefined> {
  for (const source of sourcesHere(context, content, order)) {
    if (source.from !== 'history' || (await context.folder.inHistory([content])).has(content)) return source;
  }
  return undefined;
}

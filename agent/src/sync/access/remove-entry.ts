import { batchPathsMax, directoryRenameEntriesMax, dotKey, entryType } from '@lockstep/shared';
import { type DiskEntry, isDirectoryMode } from '../../core/entry.ts';
import type { Draft } from '../../core/local-change.ts';
import type { ActionRequest } from '../../core/plan/action.ts';
import { type CurrentAt, withCurrent } from '../integrity/current-version.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { type AccessParts, journaled, pausedRefusal, remoteDelete } from './access-parts.ts';
import { type Condition, conditionRefusal, type Refused, refused } from './condition.ts';
import { changeSettled, type PlaceAt } from './place.ts';

export interface RemoveRequest {
  readonly path: string;
  readonly condition: Condition;
  /** Of a directory: the number of entries below it that the person knows of. */
  readonly entries: number | undefined;
}

/** The result of a removal. `left`: entries that stayed, each with a sentence that says why. */
export interface Removed {
  readonly done: true;
  readonly entries: number;
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** The entries below a directory on this disk, as far as the journal knows them. */
export interface Below {
  readonly files: number;
  readonly directories: number;
}

/** Counts the entries below a directory; undefined if they are too many for one request. */
export function countBelow(context: Context, directory: string): Below | undefined {
  const rows = rowsBelow(context, directory);
  if (rows === undefined) return undefined;
  const directories = rows.filter(isDirectoryRow).length;
  return { files: rows.length - directories, directories };
}

/**
 * Removes an entry from the folder, and everything that the journal knows below a directory. It is journaled as a user's change, and the
 * contents go to history. Entries that users changed in between stay, and so do those that Lockstep does not synchronize.
 */
export async function removeEntry(parts: AccessParts, request: RemoveRequest): Promise<Removed | Refused> {
  const { context } = parts;
  const { path } = request;
  const paused = pausedRefusal(parts);
  if (paused !== undefined) return paused;
  const rows = await changeSettled(parts, [path], (placeAt) => knownRows(context, request, placeAt));
  if ('done' in rows) return rows;
  const left: { path: string; reason: string }[] = [];
  // Children first.
  const waiting = [...rows].reverse();
  while (waiting.length > 0) {
    const batch = waiting.splice(0, batchPathsMax);
    const paths = batch.map(({ path }) => path);
    left.push(...(await withCurrent(context, paths, (currentAt) => removeAll(parts, batch, currentAt))));
  }
  await journaled(parts, path);
  if (left.length === rows.length && left[0] !== undefined) return refused('not-written', left[0].reason);
  return { done: true, entries: rows.length - left.length, left };
}

/** The rows of the entries to remove, parents first, or a refusal. */
async function knownRows(
  context: Context,
  { path, condition, entries }: RemoveRequest,
  placeAt: PlaceAt,
): Promise<readonly DiskEntry[] | Refused> {
  const place = await placeAt(path);
  if ('done' in place) return place;
  const { operation } = place.current;
  if (operation === undefined) return refused('no-entry', `There is nothing at ${path}: it was deleted or renamed.`);
  const unknown = conditionRefusal(condition, path, operation);
  if (unknown !== undefined) return unknown;
  const row = context.journal.disk.at(path);
  if (row === undefined) return refused('not-written', `${path} is not journaled yet: try again in a moment.`);
  if (entryType(operation) !== 'directory') return [row];
  const below = rowsBelow(context, path);
  if (below === undefined) {
    return refused(
      'not-written',
      `${path} holds more than ${directoryRenameEntriesMax} entries: delete it in the folder.`,
    );
  }
  if (below.length === (entries ?? 0)) return [row, ...below];
  const now = `${path} holds ${formatEntries(below.length)} now`;
  return entries === undefined
    ? refused(
        'version-required',
        `${now}: to delete ${below.length === 1 ? 'it' : 'all of them'} with the directory, send entries=${below.length}.`,
        operation,
      )
    : refused(
        'version-mismatch',
        `${now}, not ${entries}, and was left as it is: list it again, and send the number of now.`,
        operation,
      );
}

function formatEntries(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

/** Executed under the folder lock. Returns the entries that stayed. */
async function removeAll(
  parts: AccessParts,
  rows: readonly DiskEntry[],
  currentAt: CurrentAt,
): Promise<readonly { readonly path: string; readonly reason: string }[]> {
  const { context } = parts;
  const left: { path: string; reason: string }[] = [];
  const requests: (ActionRequest & { readonly path: string })[] = [];
  parts.operationWriter.commit(rows.flatMap((row) => (row.remote ? remoteDeletes(context, row) : [])));
  for (const { path, fingerprint, content, ...row } of rows) {
    if (fingerprint === undefined) continue;
    if (isDirectoryMode(fingerprint.mode)) {
      requests.push({ path, action: { do: 'rmdir', path } });
      continue;
    }
    // The fingerprint alone proves nothing about such a file: it is read again.
    const isUncertain = row.racy || row.unconfirmed !== undefined || row.damaged;
    const current = isUncertain ? await currentAt(path) : undefined;
    if (current !== undefined && !('fingerprint' in current && dotKey(current.operation) === dotKey(row.dot))) {
      left.push({ path, reason: 'problem' in current ? current.problem : changedNow(path) });
      continue;
    }
    const expected = current !== undefined && 'fingerprint' in current ? current.fingerprint : fingerprint;
    requests.push({ path, action: { do: 'unlink', path, expected, content }, keep: content });
  }
  const results = await applyActions(context, requests);
  for (const [index, { path, action }] of requests.entries()) {
    parts.localChanges.mark(path);
    const result = results[index];
    if (result?.result === 'done') continue;
    const reason =
      action.do === 'rmdir'
        ? `${path} is not empty: it holds entries that stayed or are not synchronized.`
        : changedNow(path);
    left.push({ path, reason: result?.result === 'problem' ? result.detail : reason });
  }
  return left;
}

/** The delete of a file that is not on this disk, if it is still the version that the person saw. */
function remoteDeletes({ journal }: Context, { path, dot }: DiskEntry): readonly Draft[] {
  const operation = journal.log.operation(dot);
  const isRemote = journal.disk.at(path)?.remote === true && journal.heads.at(path).length === 1;
  return operation !== undefined && isRemote ? [remoteDelete(operation)] : [];
}

/** Rows of entries below a directory, parents first, with those of files that are fetched on demand; undefined if they are too many. */
function rowsBelow({ journal }: Context, directory: string): readonly DiskEntry[] | undefined {
  const most = directoryRenameEntriesMax + 1;
  const rows = [
    ...journal.disk.below(directory, undefined, most),
    ...journal.disk.remoteBelow(directory, undefined, most),
  ];
  return rows.length > directoryRenameEntriesMax ? undefined : rows.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function isDirectoryRow({ fingerprint }: DiskEntry): boolean {
  return fingerprint !== undefined && isDirectoryMode(fingerprint.mode);
}

function changedNow(path: string): string {
  return `${path} changed in this moment, and was left as it is: look at it again.`;
}

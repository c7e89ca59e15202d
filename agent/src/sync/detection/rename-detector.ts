import { directoryRenameEntriesMax, dotKey, isLive, type Operation } from '@lockstep/shared';
import {
  type DiskEntry,
  type Fingerprint,
  isDirectoryMode,
  isSameWriting,
  mayBeSameInode,
  permissions,
} from '../../core/entry.ts';
import { type Draft, isCarriedAlong, isSameFile } from '../../core/local-change.ts';
import type { Observation } from '../ports/observation.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';

/** The source of a rename: the row of the old path, and whether that path is empty now. */
interface RenamedFrom {
  readonly row: DiskEntry;
  readonly operation: Operation;
  readonly vanished: boolean;
}

/** An existing entry, as it was observed. */
export type ExistingEntry = Observation & { readonly fingerprint: Fingerprint };

/**
 * The drafts of the rename by which an entry came to its path; undefined if it is no rename. `own`: the row of the path itself.
 * `isDrafted`: whether there already is another draft of a path.
 */
export async function detectRename(
  context: Context,
  existing: ExistingEntry,
  own: DiskEntry | undefined,
  isDrafted: (path: string) => boolean,
): Promise<readonly Draft[] | undefined> {
  const { path, fingerprint } = existing;
  const source = await findRenameSource(context, existing, own);
  if (source === undefined || (source.vanished && isDrafted(source.row.path))) return undefined;
  if (isOwnRename(context, path, source.row.path)) return undefined;
  const isDirectory = isDirectoryMode(fingerprint.mode);
  if (isDirectory && !source.vanished) return undefined;
  const drafts = isDirectory
    ? await draftDirectoryRename(context, path, fingerprint, source)
    : draftRename(context, existing, source);
  return drafts?.some((draft) => isDrafted(draft.path)) ? undefined : drafts;
}

/** True if the agent executed this rename and was killed before it recorded it: the disk shows the head, which is adopted. */
function isOwnRename({ journal }: Context, path: string, from: string): boolean {
  const [head] = journal.heads.at(path);
  const [gone] = journal.heads.at(from);
  return head !== undefined && isLive(head) && head.from === from && gone !== undefined && !isLive(gone);
}

/**
 * Finds the old path of an entry by its inode and its content. Undefined if the entry is new, or if the old path still has it (a
 * hard link). `own`: the row of the path itself.
 */
async function findRenameSource(
  context: Context,
  existing: ExistingEntry,
  own: DiskEntry | undefined,
): Promise<RenamedFrom | undefined> {
  const { journal, folder } = context;
  const { path, fingerprint } = existing;
  const rows = journal.disk.withInode(fingerprint.ino);
  for (const row of rows) {
    const operation = journal.log.operation(row.dot);
    if (row.path === path || row.fingerprint === undefined || operation === undefined) continue;
    if (!mayBeSameInode(row.fingerprint, fingerprint) || !holdsTheSame(row, operation, existing)) continue;
    const [seen] = await folder.observe([{ path: row.path, expected: row.fingerprint }]);
    if (seen === undefined || seen.state === 'same' || seen.state === 'problem') continue;
    if (seen.state === 'absent') return { row, operation, vanished: true };
    if (!('fingerprint' in seen) || seen.fingerprint.ino === fingerprint.ino) continue;
    // A restore reassigns inode numbers and puts back both files. If the old name is gone or has other bytes, the content would be
    // lost if this were a rename after all.
    const isCertain = areBirthsKnown(row.fingerprint, fingerprint);
    if (!isCertain && isAsRecorded(context, own, existing) && isAsRecorded(context, row, seen)) continue;
    return { row, operation, vanished: false };
  }
  const isShown = rows.some((row) => row.fingerprint && mayBeSameInode(row.fingerprint, fingerprint));
  return isShown ? undefined : findReplaced(context, existing, own);
}

/** As `findRenameSource`, for an entry whose old path has another entry that was journaled first. */
function findReplaced(context: Context, existing: ExistingEntry, own: DiskEntry | undefined): RenamedFrom | undefined {
  const row = context.replacedRows.of(existing.fingerprint);
  const operation = row && context.journal.log.operation(row.dot);
  if (row?.fingerprint === undefined || operation === undefined || row.path === existing.path) return undefined;
  const isCertain = areBirthsKnown(row.fingerprint, existing.fingerprint);
  if (!isCertain && (existing.state === 'large' || isAsRecorded(context, own, existing))) return undefined;
  return holdsTheSame(row, operation, existing) ? { row, operation, vanished: false } : undefined;
}

/**
 * True if a path has the content of its row. Without birth times such an entry counts as restored, not as another entry that was
 * renamed to the path. An unread large file has the content of its row while size and time are the recorded ones.
 */
function isAsRecorded({ journal }: Context, row: DiskEntry | undefined, seen: Observation): boolean {
  if (row?.fingerprint === undefined || row.damaged) return false;
  switch (seen.state) {
    case 'file':
      return row.content === seen.content;
    case 'large':
      return isSameWriting(row.fingerprint, seen.fingerprint);
    case 'symlink':
      return journal.log.operation(row.dot)?.target === seen.target;
    default:
      return false;
  }
}

function areBirthsKnown(a: Fingerprint, b: Fingerprint): boolean {
  return a.birthMs !== undefined && b.birthMs !== undefined;
}

function holdsTheSame(row: DiskEntry, operation: Operation, existing: ExistingEntry): boolean {
  switch (existing.state) {
    case 'file':
      return operation.content === existing.content;
    case 'large':
      return operation.content !== undefined && isSameFile(row, existing.fingerprint);
    case 'symlink':
      return operation.target === existing.target;
    default:
      // A new directory often gets the inode number of a removed one, so that the row must be of a directory too.
      return row.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode);
  }
}

/**
 * Drafts of the rename of a directory with all its entries: first the new tree, parents first, where the delete of a file's old name follows
 * its new one; then the deletes of all else in the old tree, children first. If the agent is killed between two transactions, each file is
 * at one name: the two stay together. `span` of the first lets a receiver wait for all of them. Undefined if it is too large or cannot be listed whole.
 */
async function draftDirectoryRename(
  context: Context,
  path: string,
  fingerprint: Fingerprint,
  source: RenamedFrom,
): Promise<readonly Draft[] | undefined> {
  const { journal } = context;
  const from = source.row.path;
  const most = directoryRenameEntriesMax + 1;
  const rows = journal.disk.below(from, undefined, most);
  const remote = journal.disk.remoteBelow(from, undefined, most);
  if (rows.length + remote.length > directoryRenameEntriesMax) return undefined;
  // The group would delete an operation whose content is not under the new name. As a single change, its path is fetched again.
  if (rows.some(({ damaged }) => damaged)) return undefined;
  const existing = await listBelow(context, path);
  if (existing === undefined) return undefined;
  const yielder = new Yielder(context.clock);
  const created: Draft[] = [];
  const deleted: Draft[] = [
    { path: from, kind: 'delete', vanished: true, parents: [source.operation], replaced: undefined, groupPath: path },
  ];
  for (const row of rows) {
    await yielder.maybeYield();
    const target = path + row.path.slice(from.length);
    const now = existing.get(target);
    const operation = journal.log.operation(row.dot);
    if (operation === undefined || row.fingerprint === undefined) continue;
    // Ignored entries are not deleted: the other members keep them.
    if (context.ignored.ignores(row.path, isDirectoryMode(row.fingerprint.mode))) continue;
    deleted.push({
      path: row.path,
      kind: 'delete',
      vanished: true,
      parents: [operation],
      replaced: row.content,
      groupPath: path,
    });
    if (now === undefined || journal.disk.at(target)?.fingerprint !== undefined) continue;
    if (isCarriedAlong(row, now)) {
      created.push(renamedDraft(context, target, row, operation, now, path));
    }
  }
  // Files that are fetched on demand are in the directory for its user, though not on this disk.
  for (const row of remote) {
    await yielder.maybeYield();
    const target = path + row.path.slice(from.length);
    const [operation] = journal.heads.at(row.path);
    // One that was deleted elsewhere, or has a new version, is not the file that the user saw.
    if (operation === undefined || dotKey(operation) !== dotKey(row.dot)) continue;
    if (existing.has(target) || context.ignored.ignores(row.path, false)) continue;
    deleted.push({ path: row.path, kind: 'delete', vanished: true, parents: [operation], groupPath: path });
    created.push(remoteRenamedDraft(context, target, operation, path));
  }
  const first: Draft = {
    path,
    kind: 'mkdir',
    from,
    mode: permissions(fingerprint.mode),
    parents: parentsAt(context, path),
    fingerprint,
    groupPath: path,
    span: 1 + created.length + deleted.length,
  };
  return [first, ...inOrder(created, deleted)];
}

/** The order in which `draftDirectoryRename` returns them. */
function inOrder(created: readonly Draft[], deleted: readonly Draft[]): readonly Draft[] {
  const left = new Map(deleted.map((draft) => [draft.path, draft]));
  const ordered: Draft[] = [];
  for (const draft of created.toSorted(byPath)) {
    ordered.push(draft);
    const old = draft.kind === 'mkdir' || draft.from === undefined ? undefined : left.get(draft.from);
    if (old === undefined) continue;
    ordered.push(old);
    left.delete(old.path);
  }
  return [...ordered, ...[...left.values()].sort(byPath).reverse()];
}

/** Drafts of the rename of one file or link: the new name, and the delete of the old one if that path is empty now. */
function draftRename(context: Context, existing: ExistingEntry, source: RenamedFrom): readonly Draft[] {
  const { path, fingerprint } = existing;
  // A large file has not been read; it was matched by its time, which is therefore that of the operation.
  const mtimeUs = 'mtimeUs' in existing ? existing.mtimeUs : source.operation.mtimeUs;
  const carried = renamedDraft(context, path, source.row, source.operation, fingerprint, path);
  // A large file was matched without reading, by metadata that users can set: the caller has it read at once.
  const racy = existing.state === 'file' ? existing.racy : existing.state === 'large';
  const draft = { ...carried, mtimeUs, racy };
  if (!source.vanished) return [draft];
  return [
    { ...draft, span: 2 },
    {
      path: source.row.path,
      kind: 'delete',
      vanished: true,
      parents: [source.operation],
      replaced: source.row.content,
      groupPath: path,
    },
  ];
}

function renamedDraft(
  context: Context,
  path: string,
  row: DiskEntry,
  operation: Operation,
  fingerprint: Fingerprint,
  groupPath: string,
): Draft {
  const isDirectory = isDirectoryMode(fingerprint.mode);
  const kind = isDirectory ? 'mkdir' : operation.target === undefined ? 'put' : 'symlink';
  const parents = parentsAt(context, path);
  return {
    path,
    kind,
    from: row.path,
    content: operation.content,
    replaced: parents[0]?.content,
    size: kind === 'put' ? fingerprint.size : undefined,
    mode: kind === 'symlink' ? undefined : renamedMode(row, operation, fingerprint),
    mtimeUs: isDirectory ? undefined : operation.mtimeUs,
    target: operation.target,
    blocks: operation.blocks,
    parents,
    fingerprint,
    racy: row.racy,
    unconfirmed: row.unconfirmed && 'dirty',
    groupPath,
  };
}

/** The mode of a renamed entry: that of the operation, even if the file system could not keep it. Of a damaged entry it is that on the disk. */
function renamedMode(row: DiskEntry, operation: Operation, { mode }: Fingerprint): number {
  const isKept = row.fingerprint?.mode === mode && !row.damaged;
  return (isKept ? operation.mode : undefined) ?? permissions(mode);
}

/** The new name of a file that is not on this disk: its row follows when the operation is applied. */
function remoteRenamedDraft(context: Context, path: string, operation: Operation, groupPath: string): Draft {
  const { content, size, mode, mtimeUs, blocks } = operation;
  const entry = { content, size, mode, mtimeUs, blocks, from: operation.path };
  return { path, kind: 'put', ...entry, parents: parentsAt(context, path), groupPath };
}

function byPath(a: Draft, b: Draft): number {
  return a.path < b.path ? -1 : 1;
}

/** The version that the user saw at `path` before: the operation of its row, if the disk showed it (or its delete). */
function parentsAt(context: Context, path: string): readonly Operation[] {
  const row = context.journal.disk.at(path);
  if (row === undefined || row.damaged) return [];
  const shown = context.journal.log.operation(row.dot);
  return shown && (row.fingerprint !== undefined || shown.kind === 'delete') ? [shown] : [];
}

/** All entries below `directory`, by path; undefined if any of them could not be described: the group would delete it under its old name. */
async function listBelow(context: Context, directory: string): Promise<Map<string, Fingerprint> | undefined> {
  const { folder, ignored } = context;
  const found = new Map<string, Fingerprint>();
  const skip = (path: string, isDirectory: boolean): boolean => ignored.ignores(path, isDirectory);
  for await (const chunk of folder.scan(directory, { recursive: true, skip })) {
    for (const scanned of chunk) {
      if (scanned.problem !== undefined || scanned.absent || scanned.unreadable?.length) return undefined;
      for (const entry of scanned.entries) found.set(`${scanned.path}/${entry.name}`, entry.fingerprint);
    }
  }
  return found;
}

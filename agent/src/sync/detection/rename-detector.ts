import { isLive, type Operation } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isDirectoryMode, isSameWriting, mayBeSameInode } from '../../core/entry.ts';
import { type Draft, isSameFile } from '../../core/local-change.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';
import { draftDirectoryRename } from './directory-rename.ts';
import { draftRename, type ExistingEntry, type RenamedFrom } from './rename-drafts.ts';

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

import { directoryRenameEntriesMax, type Operation } from '@lockstep/shared';
import type { DiskEntry, Fingerprint } from '../core/disk-entry.ts';
import { type Draft, isSameFile } from '../core/local-change.ts';
import { isDirectoryMode, permissions } from '../core/plan-step.ts';
import type { Context } from './context.ts';

/** A renamed entry: the row of where it stood, and whether that path is empty now. */
export interface RenamedFrom {
  readonly row: DiskEntry;
  readonly operation: Operation;
  readonly vanished: boolean;
}

/**
 * Where the entry that now stands at `path` stood before, by its inode. Undefined when it is new, or when its old path still
 * has it (a hard link).
 */
export async function findRenameSource(
  context: Context,
  path: string,
  fingerprint: Fingerprint,
): Promise<RenamedFrom | undefined> {
  const { journal, folder } = context;
  for (const row of journal.diskWithInode(fingerprint.ino)) {
    if (row.path === path || row.fingerprint === undefined) continue;
    const isDirectory = isDirectoryMode(fingerprint.mode);
    if (isDirectory ? !isDirectoryMode(row.fingerprint.mode) : !isSameFile(row, fingerprint)) continue;
    const [seen] = await folder.observe([{ path: row.path, expected: row.fingerprint }]);
    const operation = journal.operation(row.dot);
    if (seen === undefined || operation === undefined || seen.state === 'same' || seen.state === 'problem') continue;
    if (seen.state === 'absent') return { row, operation, vanished: true };
    if ('fingerprint' in seen && seen.fingerprint.ino !== fingerprint.ino) return { row, operation, vanished: false };
  }
  return undefined;
}

/**
 * Drafts of the rename of a directory and everything in it: first the new tree, parents first, then the deletes of the old
 * one, children first. `span` on the first lets a receiver wait for all of it. Undefined when it is too large for that.
 */
export async function draftDirectoryRename(
  context: Context,
  path: string,
  fingerprint: Fingerprint,
  source: RenamedFrom,
): Promise<readonly Draft[] | undefined> {
  const { journal } = context;
  const from = source.row.path;
  const rows = journal.diskBelow(from, undefined, directoryRenameEntriesMax + 1);
  if (rows.length > directoryRenameEntriesMax) return undefined;
  const standing = await listBelow(context, path);
  const created: Draft[] = [];
  const deleted: Draft[] = [
    { path: from, kind: 'delete', vanished: true, parents: [source.operation], replaced: undefined, groupPath: path },
  ];
  for (const row of rows) {
    const target = path + row.path.slice(from.length);
    const now = standing.get(target);
    const operation = journal.operation(row.dot);
    if (operation === undefined || row.fingerprint === undefined) continue;
    deleted.push({
      path: row.path,
      kind: 'delete',
      vanished: true,
      parents: [operation],
      replaced: row.content,
      groupPath: path,
    });
    if (now === undefined || journal.disk(target)?.fingerprint !== undefined) continue;
    const moved = isDirectoryMode(now.mode) ? row.fingerprint.ino === now.ino : isSameFile(row, now);
    if (moved && now.mode === row.fingerprint.mode) {
      created.push(renamedDraft(context, target, row, operation, now, path));
    }
  }
  deleted.reverse();
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
  return [first, ...created, ...deleted];
}

/** Drafts of the rename of one file or link: the new name, and the delete of the old one when nothing stands there now. */
export function draftRename(
  context: Context,
  path: string,
  fingerprint: Fingerprint,
  source: RenamedFrom,
): readonly Draft[] {
  const draft = renamedDraft(context, path, source.row, source.operation, fingerprint, path);
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
    mode: kind === 'symlink' ? undefined : permissions(fingerprint.mode),
    mtimeUs: isDirectory ? undefined : Math.floor(fingerprint.mtimeMs * 1000),
    target: operation.target,
    blocks: operation.blocks,
    parents,
    fingerprint,
    racy: false,
    groupPath,
  };
}

/** What the user saw at `path` before: the operation of its row, if the disk showed one (or its delete). */
function parentsAt(context: Context, path: string): readonly Operation[] {
  const row = context.journal.disk(path);
  const shown = row && context.journal.operation(row.dot);
  return shown && (row.fingerprint !== undefined || shown.kind === 'delete') ? [shown] : [];
}

async function listBelow(context: Context, directory: string): Promise<Map<string, Fingerprint>> {
  const { folder, ignored } = context;
  const found = new Map<string, Fingerprint>();
  const skip = (path: string, isDirectory: boolean): boolean => ignored.ignores(path, isDirectory);
  for await (const chunk of folder.scan(directory, { recursive: true, skip })) {
    for (const scanned of chunk) {
      for (const entry of scanned.entries) found.set(`${scanned.path}/${entry.name}`, entry.fingerprint);
    }
  }
  return found;
}

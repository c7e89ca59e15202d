import { directoryRenameEntriesMax, dotKey, type Operation } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode, permissions } from '../../core/entry.ts';
import { type Draft, isCarriedAlong } from '../../core/local-change.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import { parentsAt, type RenamedFrom, renamedDraft } from './rename-drafts.ts';

/**
 * Drafts of the rename of a directory with all its entries: first the new tree, parents first, where the delete of a file's old name follows
 * its new one; then the deletes of all else in the old tree, children first. If the agent is killed between two transactions, each file is
 * at one name: the two stay together. `span` of the first lets a receiver wait for all of them. Undefined if it is too large or cannot be listed whole.
 */
export async function draftDirectoryRename(
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

/** The new name of a file that is not on this disk: its row follows when the operation is applied. */
function remoteRenamedDraft(context: Context, path: string, operation: Operation, groupPath: string): Draft {
  const { content, size, mode, mtimeUs, blocks } = operation;
  const entry = { content, size, mode, mtimeUs, blocks, from: operation.path };
  return { path, kind: 'put', ...entry, parents: parentsAt(context, path), groupPath };
}

function byPath(a: Draft, b: Draft): number {
  return a.path < b.path ? -1 : 1;
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

import type { Operation } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isDirectoryMode, permissions } from '../../core/entry.ts';
import type { Draft } from '../../core/local-change.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

/** The source of a rename: the row of the old path, and whether that path is empty now. */
export interface RenamedFrom {
  readonly row: DiskEntry;
  readonly operation: Operation;
  readonly vanished: boolean;
}

/** An existing entry, as it was observed. */
export type ExistingEntry = Observation & { readonly fingerprint: Fingerprint };

/** Drafts of the rename of one file or link: the new name, and the delete of the old one if that path is empty now. */
export function draftRename(context: Context, existing: ExistingEntry, source: RenamedFrom): readonly Draft[] {
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

export function renamedDraft(
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

/** The version that the user saw at `path` before: the operation of its row, if the disk showed it (or its delete). */
export function parentsAt(context: Context, path: string): readonly Operation[] {
  const row = context.journal.disk.at(path);
  if (row === undefined || row.damaged) return [];
  const shown = context.journal.log.operation(row.dot);
  return shown && (row.fingerprint !== undefined || shown.kind === 'delete') ? [shown] : [];
}

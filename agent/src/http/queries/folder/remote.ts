import { dotKey, joinPath, nameOf } from '@lockstep/shared';
import type { RemotePage, RemoteQuery } from '@lockstep/shared/api';
import type { Engine } from '../../../sync/engine.ts';
import type { DiskEntry, Journal } from '../../../sync/ports/journal.ts';

/** The files directly in a directory that this member fetches on demand, and does not have now. */
export function readRemote(
  { context: { journal } }: Engine,
  { directory, name, after, limit }: RemoteQuery,
): RemotePage {
  const from = after === undefined ? undefined : joinPath(directory, after);
  const rows =
    name === undefined ? journal.remoteChildren(directory, from, limit + 1) : named(journal, directory, name);
  const files = rows.slice(0, limit).flatMap(({ path, dot }) => {
    const operation = journal.operation(dot);
    if (operation === undefined) return [];
    const { size = 0, mode = 0o644, mtimeUs = 0 } = operation;
    return [{ name: nameOf(path), version: dotKey(dot), size, mode, mtimeMs: mtimeUs / 1_000 }];
  });
  return { files, next: rows.length > limit ? (files.at(-1)?.name ?? null) : null };
}

function named(journal: Journal, directory: string, name: string): readonly DiskEntry[] {
  const row = journal.disk(joinPath(directory, name));
  return row?.remote ? [row] : [];
}

/** The time for which paths that keep changing are waited for. */
const settleMsMax = 5_000;

/** Journals what was done at these paths, one after the other. Returns those that did not come to rest. */
export async function settleNow({ context, localChanges }: Engine, paths: readonly string[]): Promise<string[]> {
  const giveUp = new Promise<void>((resolve) => context.clock.after(settleMsMax, resolve));
  for (const path of paths) localChanges.mark(path);
  const unsettled: string[] = [];
  for (const path of paths) unsettled.push(...(await localChanges.settleAll(path, giveUp)).unsettled);
  return unsettled;
}

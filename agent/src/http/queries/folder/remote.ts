import { dotKey, joinPath, nameOf, type Operation } from '@lockstep/shared';
import type { RemoteFile, RemotePage, RemoteQuery } from '@lockstep/shared/api';
import { isPublished, type PublishedFile } from '../../../core/cache/draft-room.ts';
import type { Engine } from '../../../sync/engine.ts';
import { until } from '../../../sync/scheduling/until.ts';
import type { ServedMember } from '../../served-member.ts';

/** A published file is journaled in less time without a request. */
const unaskedMsMax = 1_000;

/** The files directly in a directory that this member fetches on demand, and does not have now. */
export function readRemote(
  { engine, remoteCounters }: Pick<ServedMember, 'engine' | 'remoteCounters'>,
  { directory, name, after, limit }: RemoteQuery,
): RemotePage {
  const { journal, remoteNames } = engine.context;
  if (name !== undefined) return { files: filesOf(named(engine, joinPath(directory, name))), next: null };
  const from = after === undefined ? undefined : joinPath(directory, after);
  const rows = journal.disk.remoteChildren(directory, from, limit + 1);
  const listed = rows.slice(0, limit).flatMap(({ dot }) => journal.log.operation(dot) ?? []);
  const paths = new Set(listed.map(({ path }) => path));
  const leaving = from === undefined ? remoteNames.leaving(directory).filter(({ path }) => !paths.has(path)) : [];
  return {
    files: [...filesOf(leaving), ...filesOf(listed)],
    next: rows.length > limit ? nameOf(rows[limit - 1]?.path ?? '') : null,
    holdsAt: remoteCounters?.of(directory),
  };
}

function named({ context: { journal, remoteNames } }: Engine, path: string): readonly Operation[] {
  const row = journal.disk.at(path);
  const operation = row?.remote ? journal.log.operation(row.dot) : remoteNames.leavingAt(path);
  return operation === undefined ? [] : [operation];
}

function filesOf(operations: readonly Operation[]): RemoteFile[] {
  return operations.map(({ path, origin, seq, size = 0, mode = 0o644, mtimeUs = 0 }) => {
    return { name: nameOf(path), version: dotKey({ origin, seq }), size, mode, mtimeMs: mtimeUs / 1_000 };
  });
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

/** Resolves when these files are journaled; with the paths of those that are not. A scan of each would take more time than it saves. */
export async function publishedNow(engine: Engine, files: readonly PublishedFile[]): Promise<string[]> {
  const { clock, facts, journal } = engine.context;
  let open = files;
  const isOver = (): boolean => {
    open = open.filter((file) => !isPublished(journal.disk.at(file.path)?.fingerprint, file));
    return open.length === 0;
  };
  await until(clock, isOver, { facts: [facts.made], withinMs: unaskedMsMax });
  return settleNow(
    engine,
    open.map(({ path }) => path),
  );
}

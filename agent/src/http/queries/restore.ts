import { entryType, isLive, LockstepError, type Operation, restoredMax } from '@lockstep/shared';
import type { RestoreRequest, RestoreResult } from '@lockstep/shared/api';
import { chooseVersion, type VersionChoice } from '../../core/choose-version.ts';
import { stampMs } from '../../core/hlc.ts';
import type { Engine } from '../../sync/engine.ts';
import type { LogRow } from '../../sync/ports/journal.ts';
import { versionsOf } from '../../sync/versions/path-versions.ts';
import { restoreVersion, restoreVersions } from '../../sync/versions/restore.ts';
import { reportLogged } from './operations.ts';
import { versionLabel } from './versions.ts';

/** Heads that are read at a time in the search for deleted entries. */
const headsAtOnce = 1_000;

/** Puts a version of a path back in this member's folder, or what was deleted in a directory. Throws `not-restored`. */
export async function restorePath(engine: Engine, request: RestoreRequest): Promise<RestoreResult> {
  const { path, at, version } = request;
  const { journal } = engine.context;
  const { rows } = versionsOf(journal, path);
  const [current] = journal.heads(path);
  if (isDirectory(current, rows)) {
    if (at !== undefined) return restoreDirectory(engine, path, at);
    if (version === undefined) throw refused(directoryRefusal(path, current));
  }
  const labelOf = (operation: Operation): string => versionLabel(engine, operation);
  const versions = rows.map(({ operation }) => operation);
  const chosen = chooseVersion({ path, versions, current, labelOf }, choiceOf(request));
  if ('reason' in chosen) throw refused(chosen.reason);
  const restoration = await restoreVersion(engine.restoreParts, path, chosen.operation);
  if (!restoration.done) throw refused(restoration.reason);
  const row = rows.find(({ operation }) => operation === chosen.operation);
  return { path, restored: row && reportLogged(engine, row), changed: restoration.changed };
}

/** True if the path has a directory, or had one when it was deleted. */
function isDirectory(current: Operation | undefined, rows: readonly LogRow[]): boolean {
  const last =
    current !== undefined && isLive(current) ? current : rows.find((row) => isLive(row.operation))?.operation;
  return last !== undefined && entryType(last) === 'directory';
}

function directoryRefusal(path: string, current: Operation | undefined): string {
  const deleted =
    current === undefined || isLive(current)
      ? ''
      : ` It was deleted at ${new Date(stampMs(current.hlc)).toISOString()}.`;
  return `${path} is a directory: name a time with --at. What was deleted in it since then comes back.${deleted}`;
}

async function restoreDirectory(engine: Engine, path: string, atMs: number): Promise<RestoreResult> {
  const { versions, more } = await deletedSince(engine, path, atMs);
  const results = await restoreVersions(engine.restoreParts, path, versions);
  const done = results.filter(({ restoration }) => restoration.done);
  const denied = results.flatMap(({ path: each, restoration }) =>
    restoration.done ? [] : [{ path: each, reason: restoration.reason }],
  );
  const [first] = denied;
  if (done.length === 0 && first !== undefined) throw refused(first.reason);
  return { path, changed: done.length > 0, below: { entries: done.length, refused: denied, more } };
}

/** The versions of that time of the entries at `path` and below it that are deleted now, parents first. */
async function deletedSince(
  { context: { journal } }: Engine,
  path: string,
  atMs: number,
): Promise<{ readonly versions: readonly Operation[]; readonly more: boolean }> {
  const versions: Operation[] = [];
  let after: string | undefined;
  for (;;) {
    const heads = journal.headsUnder(path, after, headsAtOnce);
    for (const head of heads) {
      if (isLive(head) || stampMs(head.hlc) <= atMs) continue;
      const then = versionsOf(journal, head.path).rows.find(
        ({ operation }) => operation.path === head.path && stampMs(operation.hlc) <= atMs,
      );
      if (then === undefined || !isLive(then.operation)) continue;
      if (versions.length === restoredMax) return { versions, more: true };
      versions.push(then.operation);
    }
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return { versions, more: false };
    // A large directory holds nothing else up.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function choiceOf({ version, at }: RestoreRequest): VersionChoice {
  if (version !== undefined) return { kind: 'named', version };
  return at === undefined ? { kind: 'previous' } : { kind: 'at', atMs: at };
}

function refused(reason: string): LockstepError {
  return new LockstepError('not-restored', reason);
}

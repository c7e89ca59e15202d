import { dotKey, entryType, isLive, LockstepError, type Operation, restoredMax } from '@lockstep/shared';
import type { RestoreRequest, RestoreResult } from '@lockstep/shared/api';
import { chooseVersion, type VersionChoice } from '../../../core/history/choose-version.ts';
import { stampMs } from '../../../core/hlc.ts';
import type { Engine } from '../../../sync/engine.ts';
import type { Journal, LogRow } from '../../../sync/ports/journal.ts';
import { versionsOf } from '../../../sync/versions/path-versions.ts';
import { restoreVersion, restoreVersions } from '../../../sync/versions/restore.ts';
import { reportLogged } from '../operations.ts';
import { versionLabel } from './versions.ts';

/** `rm -r` of a large directory takes a while: what was deleted in it within this time before it was deleted with it. */
const removalMsMax = 60_000;

/** Heads that are read at a time in the search for deleted entries. */
const headsAtOnce = 1_000;

/** Puts a version of a path back in this member's folder, or what was deleted in a directory. Throws `not-restored`. */
export async function restorePath(engine: Engine, request: RestoreRequest): Promise<RestoreResult> {
  const { path, at, version } = request;
  const { journal } = engine.context;
  const { rows } = versionsOf(journal, path);
  const [current] = journal.heads.at(path);
  if (isDirectory(current, rows)) {
    if (at !== undefined) return restoreDirectory(engine, path, { afterMs: at, isOf: (ms) => ms <= at });
    if (version === undefined && current !== undefined) {
      if (isLive(current))
        throw refused(`${path} is a directory: name a time. What was deleted in it since then comes back.`);
      return restoreDirectory(engine, path, { afterMs: stampMs(current.hlc) - removalMsMax, isOf: () => true });
    }
  }
  const labelOf = (operation: Operation): string => versionLabel(engine, operation);
  const versions = rows.map(({ operation }) => operation);
  const chosen = chooseVersion({ path, versions, current, labelOf }, choiceOf(request));
  if ('reason' in chosen) throw refused(chosen.reason);
  const restoration = await restoreVersion(engine, path, chosen.operation);
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

/** The deletes to undo, and the versions that come back. */
interface Deleted {
  /** Only entries that were deleted after this time. */
  readonly afterMs: number;
  /** True for the time of a version that may come back: of each entry the newest such one does. */
  readonly isOf: (atMs: number) => boolean;
}

async function restoreDirectory(engine: Engine, path: string, deleted: Deleted): Promise<RestoreResult> {
  const { journal } = engine.context;
  const below = await restoreVersions(engine, path, deletedIn(journal, path, deleted), restoredMax);
  const [first] = below.refused;
  if (below.entries === 0 && first !== undefined) throw refused(first.reason);
  return { path, changed: below.entries > 0, below };
}

/** The versions that come back at `path` and below it, parents first. */
async function* deletedIn(journal: Journal, path: string, { afterMs, isOf }: Deleted): AsyncGenerator<Operation> {
  let after: string | undefined;
  for (;;) {
    const heads = journal.heads.under(path, after, headsAtOnce);
    for (const head of heads) {
      if (isLive(head) || stampMs(head.hlc) <= afterMs) continue;
      const rows = versionsOf(journal, head.path).rows.filter(({ operation }) => operation.path === head.path);
      // Without a time, the last version before the delete; at a time, the entry may have been deleted already.
      const [then] = rows.filter(({ operation }) => dotKey(operation) !== dotKey(head) && isOf(stampMs(operation.hlc)));
      if (then !== undefined && isLive(then.operation)) yield then.operation;
    }
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return;
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

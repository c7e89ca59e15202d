import { batchPathsMax } from '@lockstep/shared';
import type { VerifyResult } from '@lockstep/shared/api';
import { listedPathsMax } from '@lockstep/shared/api';
import type { DiskEntry } from '../../core/entry.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';
import type { Work } from './work.ts';

type Difference = VerifyResult['disk']['paths'][number];

/** Number of differing paths that one call repairs; the rest is left to the next call. */
const repairedAtOnceMax = 10_000;
const checkIntervalMs = 100;
/** A repair ends after this time in which no path was repaired and nothing of their contents came: some are not available. */
const idleMsMax = 10_000;

/** The parts of the engine that a verification uses. */
interface VerifyParts {
  readonly context: Context;
  readonly work: Work;
  readonly damage: {
    /** Reads the whole file at a path, and has it fetched again if it is damaged. */
    check(path: string): Promise<unknown>;
  };
  readonly localChanges: {
    /** Requests a detection at a path. */
    mark(path: string): void;
  };
  readonly applyLoop: {
    /** Retries all blocked paths at once. */
    unblock(): void;
    /** Why a path is not repaired yet, if known. */
    reason(path: string): string | undefined;
  };
  readonly transfers: {
    /** The fetches of contents that any of these paths waits for. */
    progressFor(isWanted: (path: string) => boolean): readonly {
      readonly doneBytes: number;
      readonly isSending: boolean;
      readonly isLimited: boolean;
    }[];
  };
}

/** How to verify. */
interface VerifyOptions {
  /** Differences are repaired, and the result says which are left. */
  readonly repair: boolean;
  /** Returns true if no one waits for the result any more. */
  readonly aborted: () => boolean;
}

/**
 * Replays the log and compares it with the heads, then reads the folder and compares it with the content ids. Without `repair`
 * it changes nothing.
 */
export async function verifyMember(parts: VerifyParts, options: VerifyOptions): Promise<VerifyResult> {
  const { files, directories } = parts.context.journal.totals.counts().disk;
  const task = parts.work.begin('verify', files + directories);
  try {
    return await compareAll(parts, options, (paths) => task.did(paths));
  } finally {
    task.end();
  }
}

/** `report` is called with the number of further paths that were compared with the disk. */
async function compareAll(
  parts: VerifyParts,
  { repair: repairs, aborted }: VerifyOptions,
  report: (paths: number) => void,
): Promise<VerifyResult> {
  const { context } = parts;
  const { journal, clock } = context;
  const startMs = clock.monotonicMs();
  const { compared, differing } = journal.verifyHeads(repairs);
  const heads = {
    compared,
    differing: differing.length,
    paths: listed(differing.map((path) => ({ path, reason: headsReason }))),
  };
  const found: Difference[] = [];
  const disk = { compared: 0, differing: 0 };
  for (let after: string | undefined, isDone = false; !isDone && !aborted(); ) {
    const rows = journal.disk.below('', after, batchPathsMax);
    const differences = await compareRows(context, rows);
    disk.compared += rows.length;
    report(rows.length);
    disk.differing += differences.length;
    found.push(...differences.slice(0, repairedAtOnceMax - found.length));
    after = rows.at(-1)?.path;
    isDone = rows.length < batchPathsMax;
  }
  const result = { heads, disk: { ...disk, paths: listed(found) } };
  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  if (!repairs) {
    return { ok: heads.differing === 0 && disk.differing === 0, ...result, elapsedMs: elapsedMs() };
  }
  const left = await repair(parts, found, aborted);
  const beyond = disk.differing - found.length;
  const repaired = heads.differing + found.length - left.length;
  return {
    ok: left.length + beyond === 0,
    ...result,
    repair: { repaired, left: left.length + beyond, paths: listed(left) },
    elapsedMs: elapsedMs(),
  };
}

/** Repairs differences, and returns those that are left. */
async function repair(
  { context, damage, localChanges, applyLoop, transfers }: VerifyParts,
  found: readonly Difference[],
  aborted: () => boolean,
): Promise<readonly Difference[]> {
  const { journal, clock } = context;
  for (const { path } of found) {
    if (aborted()) break;
    const verdict = await damage.check(path);
    if (verdict !== 'damaged') localChanges.mark(path);
  }
  applyLoop.unblock();
  const wanted = new Set(found.map(({ path }) => path));
  const damaged = (): number => journal.disk.damaged().filter(({ path }) => wanted.has(path)).length;
  let idleSinceMs = clock.monotonicMs();
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let left = damaged(); left > 0 && !aborted(); left = damaged()) {
    // Other transfers do not count: one on a slow line takes days.
    const coming = transfers.progressFor((path) => wanted.has(path));
    const arrived = coming.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
    const isComing = coming.some(({ isSending, isLimited }) => isSending || isLimited);
    if (left < least || arrived > most || isComing) idleSinceMs = clock.monotonicMs();
    else if (clock.monotonicMs() - idleSinceMs > idleMsMax) break;
    // The number of bytes also falls: a search that finds no member begins again with what is there.
    [least, most] = [left, Math.max(arrived, most)];
    await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
  }
  const left: Difference[] = [];
  for (let index = 0; index < found.length; index += batchPathsMax) {
    const paths = found.slice(index, index + batchPathsMax).map(({ path }) => path);
    const rows = paths.flatMap((path) => journal.disk.at(path) ?? []).filter(({ fingerprint }) => fingerprint);
    left.push(...(await compareRows(context, rows)));
  }
  return left.map((difference) => {
    const why = journal.disk.at(difference.path)?.damaged ? applyLoop.reason(difference.path) : undefined;
    return why === undefined ? difference : { ...difference, reason: `${difference.reason} ${why}` };
  });
}

/** The differences between rows and their entries, each of which is read whole. */
async function compareRows({ folder, lock }: Context, rows: readonly DiskEntry[]): Promise<readonly Difference[]> {
  return await lock.run(async () => {
    const seen = await folder.observe(rows.map(({ path }) => ({ path, hashLarge: true })));
    return rows.flatMap((row, index) => {
      const entry = seen[index];
      const reason = entry && reasonOf(row, entry);
      return reason === undefined ? [] : [{ path: row.path, reason }];
    });
  });
}

const headsReason = 'The stored heads are not those of the log: lockstep verify --repair replaces them.';

function reasonOf(row: DiskEntry, entry: Observation): string | undefined {
  switch (entry.state) {
    case 'absent':
      return 'It is missing. This counts as a delete, which the next scan journals at the latest: put the file back to keep it.';
    case 'problem':
      return entry.detail;
    case 'changing':
      return 'It changed while it was read: verify again when it no longer changes.';
    case 'special':
      return (
        entry.problem?.detail ?? 'A socket, pipe or device is at its path: move it away, and the file is restored.'
      );
    case 'file':
      if (row.damaged && entry.content !== row.content) return damagedReason;
      return entry.content === row.content ? undefined : changedReason;
    case 'same':
    case 'large':
      return undefined;
    case 'directory':
    case 'symlink':
      return row.content === undefined
        ? undefined
        : `It is now a ${entry.state} instead of a file: verify again in a moment.`;
  }
}

const damagedReason =
  'It is damaged on this disk, and is fetched from another member as soon as one that has it is reachable.';
const changedReason =
  'Its bytes are not those of its content id. A change made a moment ago shows here until it is journaled; otherwise the disk is failing: ' +
  'lockstep verify --repair fetches the file from another member.';

function listed(differences: readonly Difference[]): Difference[] {
  return differences.slice(0, listedPathsMax);
}

import { batchPathsMax, type VersionVector } from '@lockstep/shared';
import type { Peers } from '../members/peers.ts';
import type { Journal } from '../ports/journal.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';

/** Longest wait for other members to answer, and for pending paths that make no progress. */
const patienceMs = 3_000;
/** Wait for the hellos of members that answered. An empty journal has more to lose by missing one. */
const helloMs = 200;
const helloToEmptyMs = 3_000;
/** Shortest interval of the check whether the disk is level, which may read thousands of rows. */
const levelCheckMs = 20;

/** Above this number of pending paths the disk is not level, regardless of the reasons. */
const lagPathsMax = 4_096;

/**
 * Resolves when all reachable members were dialled and have sent their hello, or after a timeout. Call it before the dialer starts.
 * `knowsOthers`: addresses of other members are known. If the journal is empty and none of them answers, one of the others may dial first.
 */
export async function untilGreeted(
  { clock, journal, facts }: Context,
  peers: Peers,
  knowsOthers: boolean,
): Promise<void> {
  let isDialled = false;
  const stop = facts.roundDialled.on(() => {
    isDialled = true;
  });
  const { roundDialled, linkEnded, sessionOpened, leaving } = facts;
  await until(clock, () => isDialled, { facts: [roundDialled, leaving], withinMs: patienceMs });
  stop();
  const isEmpty = journal.log.length() === 0;
  if (isEmpty && knowsOthers) {
    const isHeard = (): boolean => peers.all().some(({ hello }) => hello !== undefined);
    await until(clock, isHeard, { facts: [sessionOpened, leaving], withinMs: patienceMs });
  }
  // Without the hellos it is unknown which operations the others have. If two members dial each other at once, one session ends before its
  // hello, and the other one may still be on its way: a member that answered has a hello to send.
  const hasHello = (): boolean =>
    peers.all().every((peer) => peer.lastHeardMs === undefined || peer.hello !== undefined);
  const withinMs = isEmpty ? helloToEmptyMs : helloMs;
  if (isDialled) await until(clock, hasHello, { facts: [sessionOpened, linkEnded], withinMs });
}

/** Resolves when the disk shows all operations that the journal has now, except for paths with a problem or without progress. */
export function untilLevel(
  { journal, problems, clock, missing, facts, log }: Context,
  transfers: ContentFetcher,
): Promise<void> {
  const goal = journal.log.known();
  // A missing content is searched for repeatedly. If that counted as progress, members that start together would wait for each
  // other: only an active member can say that it lacks a content.
  const isFetching = (): boolean => transfers.progress().some(({ path }) => !missing.isAt(path));
  let left = journal.totals.counts().pending;
  let movedMs = clock.monotonicMs();
  return new Promise((resolve) => {
    const end = (): void => {
      loop.stop();
      for (const stop of stops) stop();
      resolve();
    };
    const check = (): void => {
      if (showsUpTo(journal, goal, problems.count)) {
        end();
        return;
      }
      const { pending } = journal.totals.counts();
      if (pending !== left || isFetching()) movedMs = clock.monotonicMs();
      left = pending;
      // Paths without progress for so long wait for a member that is away; the start does not wait for it.
      if (clock.monotonicMs() - movedMs > patienceMs) end();
    };
    const loop = new TaskLoop({
      clock,
      run: check,
      delayMs: () => levelCheckMs,
      failed: (error) => log.error({ error: String(error) }, 'the check whether the folder is level failed'),
      retryMs: patienceMs,
    });
    const { made, received, applied, fetched, second, leaving } = facts;
    const stops = [made, received, applied, fetched, second].map((fact) => fact.on(() => loop.poke()));
    stops.push(leaving.on(end));
    loop.in(0);
  });
}

/**
 * Whether the disk shows all operations that `goal` covers, or newer ones are pending at their paths; except for at most `exceptions`
 * paths. This becomes true even while others change the folder continuously, so that the disk as a whole is never level.
 */
export function showsUpTo(journal: Journal, goal: VersionVector, exceptions: number): boolean {
  const { pending } = journal.totals.counts();
  if (pending <= exceptions) return true;
  if (pending > lagPathsMax + exceptions) return false;
  let older = 0;
  for (const which of ['live', 'delete'] as const) {
    let after: string | undefined;
    do {
      const rows = journal.heads.pending({ which, after, limit: batchPathsMax });
      for (const { heads } of rows) if (heads.some(({ origin, seq }) => seq <= (goal[origin] ?? 0))) older++;
      if (older > exceptions) return false;
      after = rows.length < batchPathsMax ? undefined : rows.at(-1)?.path;
    } while (after !== undefined);
  }
  return true;
}

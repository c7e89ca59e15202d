import { batchPathsMax, type VersionVector } from '@lockstep/shared';
import type { Peers } from '../members/peers.ts';
import type { Journal } from '../ports/journal.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';

/** A member that starts alone does not wait longer than this for others to answer, nor for what does not move. */
const patienceMs = 3_000;
/** Whoever answered says hello within moments. A journal that knows nothing has more to lose by not hearing it. */
const helloMs = 200;
const helloToEmptyMs = 1_000;
/** How often it is asked at most whether the disk is level, which may read thousands of rows. */
const levelCheckMs = 20;

/** More paths behind than this is no small lag, whatever they wait for. */
const lagPathsMax = 4_096;

/** Resolves when everyone who can be reached was dialled and has said hello, or after a while. To be called before anyone is dialled. */
export async function untilGreeted({ clock, journal, facts }: Context, peers: Peers): Promise<void> {
  let isDialled = false;
  const stop = facts.roundDialled.on(() => {
    isDialled = true;
  });
  const { roundDialled, linkEnded, sessionOpened, leaving } = facts;
  await until(clock, () => isDialled, { facts: [roundDialled, leaving], withinMs: patienceMs });
  stop();
  // Until then it is not known what they know.
  const hasHello = (): boolean => peers.all().every((peer) => peer.link === undefined || peer.ready);
  const withinMs = journal.counts().operations === 0 ? helloToEmptyMs : helloMs;
  if (isDialled) await until(clock, hasHello, { facts: [sessionOpened, linkEnded], withinMs });
}

/** Resolves when the disk shows what the journal says now, but for paths that have a problem or wait for someone. */
export function untilLevel(
  { journal, problems, clock, missing, facts, log }: Context,
  transfers: ContentFetcher,
): Promise<void> {
  const goal = journal.known();
  // A content that nobody has is searched again and again. Were that taken for movement, members that begin together would wait for
  // each other: only an active one can say that it lacks it.
  const isFetching = (): boolean => transfers.progress().some(({ path }) => !missing.isAt(path));
  let left = journal.counts().pending;
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
      const { pending } = journal.counts();
      if (pending !== left || isFetching()) movedMs = clock.monotonicMs();
      left = pending;
      // What does not move for so long waits for a member that is away; the others are not kept waiting for that.
      if (clock.monotonicMs() - movedMs > patienceMs) end();
    };
    const loop = new TaskLoop({
      clock,
      run: check,
      delayMs: () => levelCheckMs,
      failed: (error) => log.error({ error: String(error) }, 'whether the folder is level could not be seen'),
      retryMs: patienceMs,
    });
    const { made, received, applied, fetched, second, leaving } = facts;
    const stops = [made, received, applied, fetched, second].map((fact) => fact.on(() => loop.poke()));
    stops.push(leaving.on(end));
    loop.in(0);
  });
}

/**
 * Whether the disk shows what `goal` covers, or something newer is on its way to the same path; at most `exceptions` paths aside.
 * While others change the folder all the time this becomes true, and the disk as a whole is never level.
 */
export function showsUpTo(journal: Journal, goal: VersionVector, exceptions: number): boolean {
  const { pending } = journal.counts();
  if (pending <= exceptions) return true;
  if (pending > lagPathsMax + exceptions) return false;
  let older = 0;
  for (const which of ['live', 'delete'] as const) {
    let after: string | undefined;
    do {
      const rows = journal.pending({ which, after, limit: batchPathsMax });
      for (const { heads } of rows) if (heads.some(({ origin, seq }) => seq <= (goal[origin] ?? 0))) older++;
      if (older > exceptions) return false;
      after = rows.length < batchPathsMax ? undefined : rows.at(-1)?.path;
    } while (after !== undefined);
  }
  return true;
}

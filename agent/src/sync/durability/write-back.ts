import {
  writeBackBusyMsMax,
  writeBackIdleMs,
  writeBackIntervalMs,
  writeBackQuietMs,
  writeBackRetryMs,
} from '@lockstep/shared';
import type { Timer } from '../ports/clock.ts';
import type { SyncedEntry } from '../ports/folder.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

/** The rest after a sync, as a multiple of its duration: a slow disk has other work to do. */
const restFactor = 4;

/**
 * Makes users' changes durable. Programs write without fsync, so a power cut may undo a change that was just published. Until a sync
 * has ended, its rows are `unsynced`, and the member does not count as a holder.
 */
export class WriteBack {
  readonly #context: Context;
  readonly #loop: TaskLoop;
  #isUrgent = false;
  /** The time of the last change, and of the beginning of the last sync. */
  #madeMs = 0;
  #beganMs: number | undefined;
  /** Rows up to this mark were in a failed sync: the system drops pages that it could not write, so a later sync proves nothing for them. */
  #failedMark = 0;
  #restUntilMs = 0;
  /** Time of the next attempt after a failure; `hurry` does not shorten it. */
  #retryMs = 0;

  constructor(context: Context) {
    this.#context = context;
    context.facts.made.on(() => {
      this.#madeMs = context.clock.monotonicMs();
      this.poke();
    });
    context.facts.syncWanted.on(() => this.hurry());
    // A row that is recorded again for another operation keeps its mark, possibly after the sync that cleared it.
    context.facts.second.on(() => this.poke());
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#turn(),
      delayMs: () => this.#delayMs(),
      failed: (error) => {
        context.log.error({ error: String(error) }, "users' changes were not made durable; this is retried");
        this.#failed();
      },
      retryMs: writeBackRetryMs,
    });
  }

  /** Requests a sync: there may be `unsynced` rows. */
  poke(): void {
    this.#loop.poke();
  }

  /** As `poke`, for a caller that waits: now, or as soon as the sync under way has ended. */
  hurry(): void {
    this.#isUrgent = true;
    this.#loop.poke();
  }

  /** Stops, with one last attempt of at most `timeoutMs`, so that the next start finds no doubtful rows. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.#loop.isStopped) return;
    this.#loop.stop();
    let timer: Timer | undefined;
    const expiry = new Promise<void>((resolve) => {
      timer = this.#context.clock.after(timeoutMs, resolve);
    });
    const last = this.#loop
      .ended()
      .then(() => this.#sync())
      .catch(() => undefined);
    await Promise.race([last, expiry]);
    timer?.cancel();
  }

  #delayMs(): number {
    const nowMs = this.#context.clock.monotonicMs();
    const idleMs = this.#isUrgent ? 0 : Math.max(writeBackIdleMs, this.#restUntilMs - nowMs);
    return Math.max(idleMs, this.#retryMs - nowMs);
  }

  async #turn(): Promise<void> {
    const waitMs = this.#waitMs();
    if (waitMs > 0) {
      this.#loop.in(waitMs);
      return;
    }
    this.#isUrgent = false;
    await this.#sync();
  }

  /** The time to wait until a stream of changes ends, in milliseconds: one sync then serves all of them. */
  #waitMs(): number {
    if (this.#isUrgent || this.#beganMs === undefined) return 0;
    const endMs = Math.min(this.#madeMs + writeBackQuietMs, this.#beganMs + writeBackBusyMsMax);
    return endMs - this.#context.clock.monotonicMs();
  }

  /** The rows of `single` whose entry was renamed or removed, so that it may be elsewhere and not durable. */
  #movedAmong(single: readonly SyncedEntry[]): readonly string[] {
    const { journal } = this.#context;
    const moved = single.filter(({ path, ino }) => {
      const known = journal.disk.at(path)?.fingerprint;
      return known !== undefined && known.ino !== ino;
    });
    return moved.map(({ path }) => path);
  }

  /** Keeps the rows of these paths `unsynced`: no sync has reached their entries. */
  #markAgain(paths: readonly string[]): void {
    const { journal } = this.#context;
    const rows = paths.flatMap((path) => journal.disk.at(path) ?? []);
    journal.disk.record(rows.map(({ path, ...entry }) => ({ path, entry })));
  }

  #failed(): void {
    this.#retryMs = this.#context.clock.monotonicMs() + writeBackRetryMs;
    this.#loop.poke();
  }

  /** Schedules a check of rows of a failed sync: no event shows that they were written again. `hurry` does not wait for it. */
  #checkLater(nowMs: number): void {
    this.#restUntilMs = nowMs + writeBackRetryMs;
    this.#loop.poke();
  }

  async #sync(): Promise<void> {
    const { journal, folder, clock, problems, facts, lastBoot } = this.#context;
    // Not even when the agent stops: the next one examines them.
    if (!lastBoot.isExamined) return;
    const { mark, paths, hasEarlier } = journal.disk.unsynced(this.#failedMark);
    if (paths.length === 0) {
      if (hasEarlier) {
        this.#checkLater(clock.monotonicMs());
        return;
      }
      this.#failedMark = 0;
      problems.clear('sync-failed');
      return;
    }
    const sinceMs = clock.monotonicMs();
    this.#beganMs = sinceMs;
    const beganMs = clock.wallMs();
    const outcome = await folder.sync(paths);
    const nowMs = clock.monotonicMs();
    this.#restUntilMs = Math.max(sinceMs + writeBackIntervalMs, nowMs + restFactor * (nowMs - sinceMs));
    if (outcome.result === 'done') {
      // Paths on an unmounted disk do not count as failed: `mount-changed` names that disk.
      if (this.#failedMark === 0) problems.clear('sync-failed');
      if (outcome.hidden.length === paths.length) {
        this.#checkLater(nowMs);
        return;
      }
      const moved = this.#movedAmong(outcome.single);
      this.#markAgain([...outcome.hidden, ...moved]);
      for (const path of moved) facts.doubted.publish(path);
      journal.disk.synced(this.#failedMark, mark, { beganMs, endedMs: clock.wallMs() });
      if (this.#failedMark !== 0 || outcome.hidden.length > 0) this.#checkLater(nowMs);
      // A row that was recorded again meanwhile, for another operation of equal content, is still unsynced. And a file that was changed
      // just before the sync may have changed again without a trace.
      else if (journal.disk.unsynced().paths.length > 0) this.#loop.poke();
      facts.durable.publish();
      return;
    }
    // A failure is worse than a sync that was not done, and is not over with it.
    if (outcome.result === 'failed' || this.#failedMark === 0) problems.set('sync-failed', {}, outcome.detail);
    if (outcome.result === 'failed') this.#failedMark = mark;
    this.#failed();
  }
}

import { isLive, type Operation, type ProblemCode } from '@lockstep/shared';
import { LineRate } from '../../core/cache/line-rate.ts';
import { Signal } from '../scheduling/signal.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';

/** A reader waits no longer than this for a content of which no byte arrives. */
const progressMsMax = 8_000;
const checkMs = 1_000;
/** So much comes of blocks in that time, on a line of 2 KB/s too; heartbeats have less. */
const progressBytesMin = 16_384;
/** For so long a content is searched that no member has, and how often. */
const searchMsMin = 3_000;
const retryMs = 300;

/** Why a file is not on this disk. */
export interface Failure {
  readonly isHere: false;
  readonly code: ProblemCode;
  readonly reason: string;
  /** Another version took its place. */
  readonly isReplaced?: true;
}

/** The file is on this disk, or why it is not. */
export type FetchedFile = { readonly isHere: true } | Failure;

/** Brings the present version of a file to this disk. */
export class FileArrival {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #reasonOf: (path: string) => string | undefined;
  readonly #ended = new Signal();
  /** How much the other members bring. */
  readonly rate = new LineRate();

  /** `reasonOf`: what keeps a path from being applied, if known. */
  constructor(
    context: Context,
    parts: { readonly transfers: ContentFetcher; readonly reasonOf: (path: string) => string | undefined },
  ) {
    this.#context = context;
    this.#transfers = parts.transfers;
    this.#reasonOf = parts.reasonOf;
  }

  /** The operation of a file, if there is one at the path. */
  head(path: string): Operation | undefined {
    const [head] = this.#context.journal.heads.at(path);
    return head !== undefined && isLive(head) ? head : undefined;
  }

  /** True if the disk shows the present version, or there is no file any more. */
  isHere(path: string): boolean {
    const head = this.head(path);
    if (head?.content === undefined) return true;
    const row = this.#context.journal.disk.at(path);
    return row?.fingerprint !== undefined && row.content === head.content;
  }

  /**
   * Has the file fetched, which `wanted` must name. Resolves when it is here, or with why it is not: no member that answers has it, or nothing
   * came for too long. `isEnded`: ends a prefetch as soon as it returns true and `endPrefetches` is called.
   */
  async untilHere(path: string, isEnded: () => boolean = () => false): Promise<Failure | undefined> {
    const { clock, facts, wanted } = this.#context;
    const startedMs = clock.monotonicMs();
    let progress = { bytes: -1, sessionBytes: 0, atMs: startedMs };
    let hasFailed = false;
    const stop = facts.fetched.on(({ paths, areHere }) => {
      hasFailed ||= !areHere && paths.includes(path);
    });
    const wakes = [facts.applied, facts.fetched, facts.received, this.#ended];
    try {
      for (;;) {
        hasFailed = false;
        facts.demanded.publish(path);
        const isOver = (): boolean => this.isHere(path) || hasFailed || isEnded();
        await until(clock, isOver, { facts: wakes, withinMs: checkMs });
        const nowMs = clock.monotonicMs();
        if (this.isHere(path)) {
          this.rate.fetched(this.head(path)?.size ?? 0, nowMs - startedMs);
          return undefined;
        }
        const transfer = this.#transfers.progress().find((one) => one.path === path);
        const [bytes, sessionBytes] = [transfer?.doneBytes ?? -1, transfer?.sessionBytes ?? 0];
        if (sessionBytes < progress.sessionBytes) progress = { ...progress, sessionBytes };
        // A block on a slow line is long under way, and others may come before it.
        const isComing = sessionBytes - progress.sessionBytes >= progressBytesMin;
        const isPrefetched = wanted.isPrefetched(path);
        if (bytes > progress.bytes || isComing || (isPrefetched && wanted.waitingReaders > 0)) {
          progress = { bytes, sessionBytes, atMs: nowMs };
        }
        // Another read may ask for a file that was only a guess.
        const isLost = hasFailed && (isPrefetched || nowMs - startedMs >= searchMsMin);
        // Time does not mend that, and the content would be fetched without end.
        const isInTheWay = this.#context.problems.ofPath(path)?.code === 'path-in-the-way';
        const hasNoRoom = transfer === undefined && nowMs - startedMs >= checkMs && this.#hasNoRoom(path);
        if (isLost || isInTheWay || hasNoRoom || isEnded() || nowMs - progress.atMs >= progressMsMax)
          return this.#failure(path);
        // A member that restarts is back in a moment.
        if (hasFailed) await new Promise<void>((resolve) => clock.after(retryMs, resolve));
      }
    } finally {
      stop();
    }
  }

  /** True while the disk has no room for the file, so that it is not requested. The problem may outlive that until bytes come. */
  #hasNoRoom(path: string): boolean {
    return this.#context.problems.ofPath(path)?.code === 'disk-full';
  }

  /** Wakes the prefetches that have ended. */
  endPrefetches(): void {
    this.#ended.publish();
  }

  /** Why the file is not here if no member that answers has it. */
  unreachable(path: string): Failure {
    const reason = `${path} is not on this disk, and no other member that answers has it.`;
    return { isHere: false, code: 'content-missing', reason };
  }

  #failure(path: string): Failure {
    const { problems } = this.#context;
    const problem = problems.ofPath(path);
    const reason =
      problem?.detail ??
      this.#reasonOf(path) ??
      `Nothing of ${path} arrived for ${progressMsMax / 1_000} s: the members that have it do not answer.`;
    return { isHere: false, code: problem?.code ?? 'content-missing', reason };
  }
}

import { ProgressRate } from '../../core/traffic/progress-rate.ts';
import type { Context } from '../state/context.ts';

/** The bytes of the newest contents that this member lacks, and the rate at which they arrive. */
export interface ArrivalReport {
  /** Bytes of all files, as far as their operations are known here. */
  readonly totalBytes: number;
  /** Those that are neither in place nor staged. */
  readonly missingBytes: number;
  /** 0 if nothing arrives any more. Undefined if nothing is missing, and while the rate is not known yet. */
  readonly bytesPerSecond: number | undefined;
}

/** The state of the fetcher of contents. */
interface Fetching {
  /** Bytes of the missing contents that are staged, in whole or in part. */
  stagedBytes(): number;
  /** Bytes that came of blocks that are not complete, and are not staged. */
  partialBytes(): number;
  /** True if the members that sent them have no session any more. */
  hasNoSender(): boolean;
}

/** Measures once a second what this member still lacks. */
export class Arrivals {
  readonly #context: Context;
  readonly #fetcher: Fetching;
  readonly #isLearning: () => boolean;
  readonly #rate = new ProgressRate();
  /** Bytes of the files that this member journaled since the start. */
  #ownBytes = 0;

  /** `isLearning`: operations are being pulled, so that more will be missing than is known now. */
  constructor(context: Context, fetcher: Fetching, isLearning: () => boolean) {
    this.#isLearning = isLearning;
    this.#context = context;
    this.#fetcher = fetcher;
    context.facts.made.on((operations) => {
      for (const { size } of operations) this.#ownBytes += size ?? 0;
    });
    context.facts.second.on(() => this.#sample());
  }

  report(): ArrivalReport {
    const { bytes, missingBytes: pendingBytes } = this.#context.journal.totals.counts();
    // A member on demand records its files as remote, and fetches them when they are read.
    const missingBytes = this.#context.self.onDemand === true ? 0 : pendingBytes;
    // One staged content may be for several paths.
    const left = missingBytes === 0 ? 0 : Math.max(0, missingBytes - this.#fetcher.stagedBytes());
    return {
      totalBytes: bytes,
      missingBytes: left,
      bytesPerSecond: left === 0 && !this.#isLearning() ? undefined : this.#perSecond(),
    };
  }

  /** On a full disk a file is fetched in part repeatedly, and none arrives. */
  #perSecond(): number | undefined {
    const { clock, problems } = this.#context;
    const isFull = problems.list().some(({ code, path }) => code === 'disk-full' && path !== undefined);
    if (isFull) return 0;
    const rate = this.#rate.perSecond(clock.monotonicMs());
    return rate !== undefined && this.#fetcher.hasNoSender() ? 0 : rate;
  }

  #sample(): void {
    const { totalBytes, missingBytes } = this.report();
    if (missingBytes === 0 && !this.#isLearning()) {
      this.#rate.rest();
      return;
    }
    const thereBytes = totalBytes - missingBytes + this.#fetcher.partialBytes();
    const sample = { thereBytes, ownBytes: this.#ownBytes };
    this.#rate.note(sample, this.#context.clock.monotonicMs());
  }
}

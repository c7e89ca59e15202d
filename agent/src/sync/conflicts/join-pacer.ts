import { LRUCache } from 'lru-cache';

const joinsAtOnce = 3;
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;
/** Paths that are remembered; each costs about 100 bytes. */
const pathsMax = 20_000;

/**
 * Paces the joins of one path. Members that do not agree about who is there can join the same siblings again and again, each join
 * a new sibling for the others; the more often that happens, the longer each of them waits, until one of them is alone with it.
 */
export class JoinPacer {
  readonly #joined = new LRUCache<string, { readonly times: number; readonly untilMs: number }>({ max: pathsMax });
  readonly #random: () => number;

  /** `random`: a number from 0 to 1, so that members do not wait for the same time. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether the path may be joined now. */
  allows(path: string, nowMs: number): boolean {
    return nowMs >= (this.#joined.get(path)?.untilMs ?? 0);
  }

  /** The path was joined. */
  joined(path: string, nowMs: number): void {
    const before = this.#joined.get(path);
    const isOld = before !== undefined && nowMs - before.untilMs > pauseMsMax;
    const times = before === undefined || isOld ? 1 : before.times + 1;
    const pauseMs = times < joinsAtOnce ? 0 : Math.min(pauseMsMax, pauseMsMin * 2 ** (times - joinsAtOnce));
    this.#joined.set(path, { times, untilMs: nowMs + pauseMs * (0.5 + this.#random()) });
  }
}

import { RecentMap } from '../../core/recent-map.ts';

const joinsAtOnce = 3;
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;
/** Number of paths remembered; each costs about 100 bytes. */
const pathsMax = 20_000;

/**
 * Limits the rate of joins at each path. Members that disagree about who is present can join the same siblings repeatedly: each join
 * is a new sibling for the others. With each join the pause grows, until one member joins alone.
 */
export class JoinPacer {
  readonly #joined = new RecentMap<string, { readonly times: number; readonly untilMs: number }>(pathsMax);
  readonly #random: () => number;

  /** `random` returns a number from 0 to 1, so that members do not wait for the same time. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether the path may be joined now. */
  allows(path: string, nowMs: number): boolean {
    return nowMs >= (this.#joined.get(path)?.untilMs ?? 0);
  }

  /** Records a join of the path. */
  joined(path: string, nowMs: number): void {
    const before = this.#joined.get(path);
    const isOld = before !== undefined && nowMs - before.untilMs > pauseMsMax;
    const times = before === undefined || isOld ? 1 : before.times + 1;
    const pauseMs = times < joinsAtOnce ? 0 : Math.min(pauseMsMax, pauseMsMin * 2 ** (times - joinsAtOnce));
    this.#joined.set(path, { times, untilMs: nowMs + pauseMs * (0.5 + this.#random()) });
  }
}

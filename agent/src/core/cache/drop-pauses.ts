import type { ContentId } from '@lockstep/shared';
import { backoffMs } from '../backoff.ts';

/** The pauses before the other members are asked again whether they keep a file. */
const pause = { minMs: 50, maxMs: 2_000 };
/** A file that was not asked about for so long is new: its pauses begin again with the shortest. */
const forgottenAfterMs = 10_000;

interface Attempts {
  readonly content: ContentId;
  readonly count: number;
  readonly atMs: number;
  readonly untilMs: number;
}

/** A file with a content. */
interface HeldContent {
  readonly path: string;
  readonly content: ContentId;
}

/** The files that could not be dropped a moment ago, because too few other members keep them yet, or a program writes to them. */
export class DropPauses {
  /** The last attempt for each path, the earliest first. */
  readonly #attempts = new Map<string, Attempts>();

  /** The file could not be dropped at `nowMs`, a monotonic time. `random01` is from 0 to below 1. */
  failed({ path, content }: HeldContent, nowMs: number, random01: number): void {
    this.#forget(nowMs);
    const last = this.#attempts.get(path);
    const count = last?.content === content ? last.count + 1 : 0;
    this.#attempts.delete(path);
    const untilMs = nowMs + backoffMs(count, pause, random01);
    this.#attempts.set(path, { content, count, atMs: nowMs, untilMs });
  }

  /** True while the other members need not be asked about the file. */
  has({ path, content }: HeldContent, nowMs: number): boolean {
    const last = this.#attempts.get(path);
    return last?.content === content && nowMs < last.untilMs;
  }

  #forget(nowMs: number): void {
    for (const [path, { atMs }] of this.#attempts) {
      if (nowMs - atMs < forgottenAfterMs) return;
      this.#attempts.delete(path);
    }
  }
}

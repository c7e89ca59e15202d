import { CrashedError, type Life } from './life.ts';
import type { Random } from './random.ts';

/** A task that can still be cancelled. */
export interface Task {
  cancel(): void;
}

interface Entry {
  readonly timeMs: number;
  /** Orders tasks of the same time. Drawn at random, so that every order occurs with some seed. */
  readonly tie: number;
  readonly number: number;
  readonly life: Life | undefined;
  run: (() => void) | undefined;
}

/** The reason for which `run` returned: no tasks are left, the time is reached, or the condition holds. */
export type RunEnd = 'idle' | 'time' | 'condition';

/** Virtual time: a queue of tasks, executed one after the other. All promises settle between two tasks. */
export class Scheduler {
  #nowMs = 0;
  #count = 0;
  #tasksRun = 0;
  readonly #heap: Entry[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Virtual milliseconds since the run began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get tasksRun(): number {
    return this.#tasksRun;
  }

  /** Calls `run` after `delayMs`, unless `life` has ended by then. */
  after(delayMs: number, run: () => void, life?: Life): Task {
    const entry: Entry = {
      timeMs: this.#nowMs + Math.max(0, delayMs),
      tie: this.#random.uint32(),
      number: this.#count++,
      life,
      run,
    };
    this.#push(entry);
    return {
      cancel: () => {
        entry.run = undefined;
      },
    };
  }

  /** Resolves after `delayMs`; never if `life` has ended by then. */
  pause(delayMs: number, life?: Life): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve, life);
    });
  }

  /**
   * Runs tasks until none is left, `untilMs` is reached or `condition` (checked between tasks) holds. A task that throws stops the run.
   *
   * All microtasks must run between two tasks, in promise chains of any length. A microtask that calls `nextTick` achieves this: Node
   * empties the microtask queue before it runs ticks. It costs a tenth of setImmediate.
   */
  run(untilMs: number, condition: () => boolean = () => false): Promise<RunEnd> {
    return new Promise((resolve, reject) => {
      const step = () => {
        const entry = condition() ? 'condition' : this.#next(untilMs);
        if (typeof entry === 'string') {
          resolve(entry);
          return;
        }
        try {
          this.#tasksRun += 1;
          entry.run?.();
        } catch (error) {
          // An agent that crashes within a task ends it by this error, which has no other receiver.
          if (!(error instanceof CrashedError)) {
            reject(error);
            return;
          }
        }
        queueMicrotask(afterMicrotasks);
      };
      const afterMicrotasks = () => process.nextTick(step);
      queueMicrotask(afterMicrotasks);
    });
  }

  /** Takes the next task that was not cancelled and advances the time to it, or returns why there is none. */
  #next(untilMs: number): Entry | RunEnd {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.timeMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, Number.isFinite(untilMs) ? untilMs : this.#nowMs);
        return first === undefined ? 'idle' : 'time';
      }
      this.#pop();
      if (first.run === undefined || first.life?.alive === false) continue;
      this.#nowMs = first.timeMs;
      return first;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above] as Entry;
      if (!isBefore(entry, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  if (a.timeMs !== b.timeMs) return a.timeMs < b.timeMs;
  return a.tie !== b.tie ? a.tie < b.tie : a.number < b.number;
}

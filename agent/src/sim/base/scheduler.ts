import { CrashedError, type Life } from './life.ts';
import type { Random } from './random.ts';

/** A task that may still be called off. */
export interface Task {
  cancel(): void;
}

interface Entry {
  readonly timeMs: number;
  /** Orders tasks of the same time; drawn at random, so that every order happens under some seed. */
  readonly tie: number;
  readonly number: number;
  readonly life: Life | undefined;
  run: (() => void) | undefined;
}

/** Why `run` returned: nothing is left to do, the time is reached, or the condition holds. */
export type RunEnd = 'idle' | 'time' | 'condition';

/** Virtual time: a queue of tasks, run one after the other, all promises settled in between. */
export class Scheduler {
  #nowMs = 0;
  #count = 0;
  #tasksRun = 0;
  readonly #heap: Entry[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Virtual milliseconds since the world began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get tasksRun(): number {
    return this.#tasksRun;
  }

  /** Runs `run` after `delayMs`, unless `life` has ended by then. */
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

  /** Resolves after `delayMs`; never, when `life` has ended by then. */
  pause(delayMs: number, life?: Life): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve, life);
    });
  }

  /**
   * Runs tasks until none is left, `untilMs` is reached or `condition` holds (asked between tasks). A task that throws stops the run.
   *
   * Between two tasks every microtask must run, however long the chain of promises is. A microtask that asks for the next
   * tick does exactly this: Node empties the microtask queue before it turns to ticks. It costs a tenth of setImmediate.
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
          // An agent that crashes in the middle of a task leaves it by a throw; nobody is left to hear of it.
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

  /** Takes the next task that still stands and moves the time to it, or says why there is none. */
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

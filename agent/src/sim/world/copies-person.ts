import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Machine } from './machine.ts';

const pauseMsMax = 4_000;

/** A person who sets, now and then and at any member, on how many members contents are kept. */
export class CopiesPerson {
  readonly #machines: () => readonly Machine[];
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #isStopped = false;

  constructor(machines: () => readonly Machine[], around: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#machines = machines;
    this.#scheduler = around.scheduler;
    this.#random = around.random;
    this.#later();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #later(): void {
    this.#scheduler.after(this.#random.between(1, pauseMsMax), () => {
      if (this.#isStopped) return;
      this.#set();
      this.#later();
    });
  }

  #set(): void {
    const machines = this.#machines();
    const { engine, isRunning, journal } = this.#random.pick(machines);
    const count = journal.members().filter(({ standing }) => standing === 'joined').length;
    if (engine === undefined || !isRunning || engine.lifecycle.state !== 'active' || count === 0) return;
    const pattern = this.#random.pick(['', '', '', '*b*', 'c/']);
    const isKnown = engine.copies.placement.rules.active.some((rule) => rule.pattern === pattern);
    if (isKnown && this.#random.chance(0.2)) engine.copies.set(pattern, null);
    else engine.copies.set(pattern, this.#draw(count));
  }
  /** As many copies as there are members are the hardest to keep. */
  #draw(count: number): number | 'all' {
    if (this.#random.chance(0.1)) return 'all';
    return this.#random.chance(0.5) ? count : 1 + this.#random.below(count);
  }
}

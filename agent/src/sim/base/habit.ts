import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** A task that is repeated after a random pause of 1 to `pauseMsMax` each time, until it is stopped. */
export class Habit {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #pauseMsMax: number;
  readonly #act: () => void;
  #isStopped = false;

  constructor(
    { scheduler, random }: { readonly scheduler: Scheduler; readonly random: Random },
    pauseMsMax: number,
    act: () => void,
  ) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#pauseMsMax = pauseMsMax;
    this.#act = act;
    this.#later();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #later(): void {
    this.#scheduler.after(this.#random.between(1, this.#pauseMsMax), () => {
      if (this.#isStopped) return;
      this.#act();
      this.#later();
    });
  }
}

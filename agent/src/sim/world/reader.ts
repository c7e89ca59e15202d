import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Machine } from './machine.ts';

const pauseMsMax = 400;
const remoteMax = 1_000;

/** A person who reads files of a member that fetches contents on demand. */
export class Reader {
  readonly #machine: Machine;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #isStopped = false;

  constructor(machine: Machine, around: { readonly scheduler: Scheduler; readonly random: Random }) {
    this.#machine = machine;
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
      this.#read();
      this.#later();
    });
  }

  #read(): void {
    const { engine, isRunning, journal } = this.#machine;
    if (engine === undefined || !isRunning) return;
    const rows = journal.remoteBelow('', undefined, remoteMax);
    if (rows.length === 0) return;
    // Of a crashed agent the promise never settles, or is rejected by its own gate.
    engine.onDemand.fetch(this.#random.pick(rows).path).catch(() => undefined);
  }
}

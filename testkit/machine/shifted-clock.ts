import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

const preload = join(repositoryRoot, 'testkit', 'machine', 'shifted-clock.mjs');

/** The clock of one agent, or of several on one machine, which is shifted, also while they run. */
export class ShiftedClock {
  readonly #file: string;
  #shiftMs = 0;

  /** `file`: the path of the file that stores the shift. */
  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  /** The environment to start the agent with. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${preload}`, LOCKSTEP_TEST_CLOCK_FILE: this.#file };
  }

  /** A positive number of hours is ahead of the real time. */
  set(hours: number): void {
    this.#write(hours * 3_600_000);
  }

  /** Lets this time pass at once, as on a machine that slept. */
  advance(ms: number): void {
    this.#write(this.#shiftMs + ms);
  }

  #write(shiftMs: number): void {
    this.#shiftMs = shiftMs;
    // An agent never reads half of it.
    writeFileSync(`${this.#file}.new`, String(shiftMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

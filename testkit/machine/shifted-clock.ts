import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

const preload = join(repositoryRoot, 'testkit', 'machine', 'shifted-clock.mjs');

/** The clock of one agent, which `set` shifts, also while the agent runs. */
export class ShiftedClock {
  readonly #file: string;

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
    writeFileSync(this.#file, String(hours * 3_600_000));
  }
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';

const preload = join(repositoryRoot, 'testkit', 'machine', 'shifted-clock.mjs');

/** The clock of one agent, which is wrong by as much as `set` says, also while the agent runs. */
export class ShiftedClock {
  readonly #file: string;

  /** `file`: where to keep by how much. */
  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  /** What the agent is to be started with. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import=${preload}`, LOCKSTEP_TEST_CLOCK_FILE: this.#file };
  }

  /** Positive: ahead. */
  set(hours: number): void {
    writeFileSync(this.#file, String(hours * 3_600_000));
  }
}

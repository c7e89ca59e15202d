import { setTimeout as pause } from 'node:timers/promises';
import type { Lab, LabMember } from '../labs/lab.ts';

/** A fault of one member: causes it, waits, and repairs it. */
type Fault = (lab: Lab, member: LabMember, waitMs: number) => Promise<void>;

const faults: Readonly<Record<string, Fault>> = {
  killed: async (_lab, member, waitMs) => {
    await member.kill();
    await pause(waitMs);
    await member.start();
  },
  stopped: async (_lab, member, waitMs) => {
    await member.stop();
    await pause(waitMs);
    await member.start();
  },
  frozen: async (lab, member, waitMs) => {
    await lab.freeze(member);
    await pause(waitMs);
    await lab.thaw(member);
  },
  'cut off': async (lab, member, waitMs) => {
    await lab.split([[member], lab.members.filter((other) => other !== member)]);
    await pause(waitMs);
    await lab.heal();
  },
};

/** The range of random faults. */
interface FaultChoice {
  readonly victims: readonly LabMember[];
  /** The maximum duration of a fault, and of the pause before it. */
  readonly waitMsMax: number;
  readonly random: () => number;
}

/** A series of random faults of random victims, one after the other, until it is stopped. */
export class Faults {
  readonly counts = new Map<string, number>(Object.keys(faults).map((name) => [name, 0]));
  #going = true;
  readonly #work: Promise<void>;

  constructor(lab: Lab, choice: FaultChoice) {
    this.#work = this.#run(lab, choice);
    // `stop` reports the failure.
    this.#work.catch(() => undefined);
  }

  /** Resolves when the last fault is repaired; fails if one of them failed. */
  async stop(): Promise<void> {
    this.#going = false;
    await this.#work;
  }

  async #run(lab: Lab, { victims, waitMsMax, random }: FaultChoice): Promise<void> {
    const names = Object.keys(faults);
    while (this.#going) {
      await pause(random() * waitMsMax);
      const name = names[Math.floor(random() * names.length)] ?? '';
      const victim = victims[Math.floor(random() * victims.length)];
      if (victim !== undefined) await faults[name]?.(lab, victim, random() * waitMsMax);
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
  }
}

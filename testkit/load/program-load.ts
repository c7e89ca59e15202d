import { mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Lab, LabMember } from '../labs/lab.ts';
import type { Program } from './programs.ts';

const room = 'programs';

/** The pause of a program between two rounds, so that they are separate changes. */
const restMs = 300;

interface Place {
  readonly program: Program;
  readonly member: LabMember;
  rounds: number;
}

/** Real programs at work, each in a separate directory of one member's folder. */
export class ProgramLoad {
  readonly #places: readonly Place[];
  readonly #lab: Lab;
  #going = false;
  #working: Promise<unknown> = Promise.resolve();

  private constructor(lab: Lab, places: readonly Place[]) {
    this.#lab = lab;
    this.#places = places;
  }

  static async prepare(lab: Lab, programs: readonly Program[]): Promise<ProgramLoad> {
    const places = programs.map((program, index) => {
      const member = lab.members[index % lab.members.length] as LabMember;
      return { program, member, rounds: 0 };
    });
    const load = new ProgramLoad(lab, places);
    for (const place of places) {
      await mkdir(load.#directory(place, place.member), { recursive: true });
      await mkdir(lab.outside(place.member), { recursive: true });
      await place.program.prepare(load.#directory(place, place.member), lab.outside(place.member));
    }
    return load;
  }

  start(): void {
    this.#going = true;
    this.#working = Promise.all(this.#places.map((place) => this.#work(place)));
    this.#working.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#working;
  }

  /** Checks what each program has left, in the folder of each other member. */
  async check(): Promise<void> {
    for (const place of this.#places) {
      for (const member of this.#lab.members) {
        if (member === place.member) continue;
        const failed = (cause: unknown): never => {
          throw new Error(`What ${place.program.binary} left on ${place.member.name} is different on ${member.name}`, {
            cause,
          });
        };
        await place.program
          .check(this.#directory(place, member), place.rounds, this.#lab.outside(place.member))
          .catch(failed);
      }
    }
  }

  /** The number of rounds of each program. */
  get rounds(): string {
    return this.#places.map(({ program, rounds }) => `${program.binary} ${rounds}`).join(', ');
  }

  #directory({ program }: Place, member: LabMember): string {
    return member.path(room, program.binary);
  }

  async #work(place: Place): Promise<void> {
    const directory = this.#directory(place, place.member);
    while (this.#going) {
      await place.program.work(directory, place.rounds, this.#lab.outside(place.member));
      place.rounds += 1;
      await pause(restMs);
    }
  }
}

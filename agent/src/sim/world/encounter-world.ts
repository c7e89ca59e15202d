import type { Random } from '../base/random.ts';
import { Meddler } from '../users/meddler.ts';
import { UserShell } from '../users/user-shell.ts';
import { checkConverged } from './check.ts';
import { attempt, encounterChanges, encounterPaths, prepareEncounter } from './encounter-changes.ts';
import type { Faults } from './faults.ts';
import type { Machine } from './machine.ts';
import type { Scenario } from './scenario.ts';
import { mayWork, World } from './world.ts';

const membersMax = 3;
/** The users of the world do nothing but what an encounter has them do. */
const idleMs = 1e12;
/** A line that is slow would only make the members wait for each other. */
const delayMsMax = 20;
const startMs = 1_000;
const settleMsMax = 8_000;
const checkEveryMs = 250;
/** Longer than a file is unconfirmed after its change. */
const certainAfterMs = 40_000;
/** The number of calls in which an agent applies a change, and some more. */
const callsMax = 80;
/** Between two acts. Some losses need several within a few calls. */
const callsApart = [1, 3, 12];
const effectsMax = 20;
/** Pauses between changes around the end of an agent. */
const pausesMs = [0, 5, 60, 700];
const restartChance = 0.4;
const lastsMsMin = 20;
const lastsMsMax = 4_000;

/** The scenario of a seed, for a world of encounters. */
export function encounterScenario(drawn: Scenario): Scenario {
  const members = Math.min(membersMax, drawn.members);
  return {
    ...drawn,
    members,
    onDemand: Math.min(members, drawn.onDemand),
    pauseMsMax: idleMs,
    filledAtStart: 0,
    meddlesMax: 0,
    network: { ...drawn.network, delayMsMax: Math.min(delayMsMax, drawn.network.delayMsMax) },
    clockOffsetsMs: drawn.clockOffsetsMs.slice(0, members),
  };
}

interface Parts {
  readonly from: Machine;
  readonly to: Machine;
  readonly faults: Faults;
  readonly random: Random;
}

/**
 * A world in which things meet that are seldom close together elsewhere. One member changes an entry. Others act between the system calls with
 * which a second member applies that: its user on the same entry, faults, and the author with further changes. Or the agent of the second
 * member ends among such changes, and starts again.
 */
export class EncounterWorld extends World {
  readonly #shells = new Map<Machine, UserShell>();
  #beforeCall: (machine: Machine, path: string) => void = () => {};

  override between(machine: Machine, path: string): void {
    this.#beforeCall(machine, path);
  }

  /** Runs one to three encounters, one after the other, until `isBroken`. */
  async play(faults: Faults, random: Random, isBroken: () => boolean): Promise<void> {
    const { scheduler } = this;
    const passes = (ms: number): Promise<unknown> => scheduler.run(scheduler.nowMs + ms, isBroken);
    await passes(startMs);
    for (let left = random.pick([1, 1, 2, 3]); left > 0 && !isBroken(); left--) {
      const untilMs = scheduler.nowMs + settleMsMax;
      while (checkConverged(this) !== undefined && scheduler.nowMs < untilMs && !isBroken()) await passes(checkEveryMs);
      if (random.chance(0.3)) await passes(certainAfterMs);
      const from = random.pick(this.remaining);
      const others = this.remaining.filter((one) => one !== from);
      const to = others.length === 0 ? from : random.pick(others);
      if (mayWork(from)) prepareEncounter(this.#shellOf(from));
      await passes(random.pick([0, 50, 2_000]));
      this.story.add('', () => `an encounter of ${from.name} and ${to.name}`);
      const parts = { from, to, faults, random };
      this.#begin(parts);
      if (random.chance(restartChance)) {
        await this.#restart(parts, passes);
      }
      await passes(random.between(lastsMsMin, lastsMsMax));
      this.#beforeCall = () => {};
    }
  }

  /** Ends the agent of `to`, and starts it again later. Entries of both change before and after its end. */
  async #restart({ from, to, faults, random }: Parts, passes: (ms: number) => Promise<unknown>): Promise<void> {
    const meddlers = [from, to, to].map(
      (machine) => [machine, new Meddler(this.#shellOf(machine), random.fork())] as const,
    );
    for (const isEnded of [false, true]) {
      if (isEnded) faults.restart(to);
      for (let left = random.below(4); left > 0; left--) {
        await passes(random.pick(pausesMs));
        const [machine, meddler] = random.pick(meddlers);
        if (!mayWork(machine)) continue;
        if (random.chance(0.5)) meddler.meddle(random.pick(encounterPaths));
        else this.#change(machine, random);
      }
    }
  }

  /** One of the changes that a member makes for the others to apply. */
  #change(machine: Machine, random: Random): void {
    const name = random.pick(Object.keys(encounterChanges));
    if (mayWork(machine)) attempt(() => encounterChanges[name]?.(this.#shellOf(machine)));
  }

  /** Makes a change, and arms what happens between the next calls of `to`. */
  #begin({ from, to, faults, random }: Parts): void {
    const meddler = new Meddler(this.#shellOf(to), random.fork());
    let at = '';
    const meddle = (path: string): void => {
      if (mayWork(to)) meddler.meddle(path);
    };
    const change = (): void => this.#change(from, random);
    const strike = (): void => faults.strike();
    const acts: readonly (() => void)[] = [
      () => meddle(at === '' || at.startsWith('/') ? random.pick(encounterPaths) : at),
      () => meddle(random.pick(encounterPaths)),
      () => to.crashInside(random.below(effectsMax)),
      change,
      strike,
      strike,
      strike,
    ];
    const planned = new Map<number, () => void>();
    const apartMax = random.pick(callsApart);
    let call = random.below(callsMax);
    for (let left = random.pick([2, 3, 4, 5, 6]); left > 0; left--) {
      planned.set(call, random.pick(acts));
      call += 1 + random.below(apartMax);
    }
    let calls = 0;
    this.#beforeCall = (machine, path) => {
      if (machine !== to) return;
      at = path;
      planned.get(calls++)?.();
    };
    change();
    if (random.chance(0.3)) this.scheduler.after(random.between(1, 100), change);
  }

  #shellOf(machine: Machine): UserShell {
    const { name, volume } = machine;
    const shell =
      this.#shells.get(machine) ?? new UserShell({ name, disk: volume.disk, ledger: this.ledger, story: this.story });
    this.#shells.set(machine, shell);
    return shell;
  }
}

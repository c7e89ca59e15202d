import { dotKey, type Operation } from '@lockstep/shared';
import { isZeros } from '../disk/content.ts';
import type { Torn } from '../disk/write-cache.ts';
import { type ValueKey, valueAt } from '../users/ledger.ts';
import { valuesAmong, valuesOn } from './durability-watch.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

/**
 * What an accident excuses: values that no agent can owe any more, because the accident took what it would have to know. GUARANTEES says
 * each of these.
 */
export class Excuses {
  readonly #world: World;
  /** When each machine was last copied, as the ledger counts. */
  readonly #copiedAt = new Map<Machine, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Runs a power cut of a machine. Returns what it tore. */
  powerCut(machine: Machine, cut: () => readonly Torn[]): readonly Torn[] {
    const { ledger } = this.#world;
    const placesBefore = placesOn(machine);
    const torn = cut();
    // Half of what a user wrote: it is somebody's, so it may be kept, and nobody owes it.
    for (const { now } of torn) if (!isZeros(now)) ledger.tore(now);
    ledger.tookBack(machine.name, valuesOn(machine));
    const placesAfter = placesOn(machine);
    for (const value of new Set([...placesBefore.keys(), ...placesAfter.keys()])) {
      if (placesBefore.get(value) !== placesAfter.get(value)) ledger.movedBack(value);
    }
    this.#world.releaseLost('lost in a power cut on the only machine that had it');
    return torn;
  }

  /** Runs the loss of a machine's journal. */
  journalLost(machine: Machine, lose: () => void): void {
    this.#releaseUnjournaled(machine);
    // Without its rows nobody can tell what a power cut left from what a user wrote.
    for (const [, { content }] of machine.volume.disk.entries()) {
      if (content !== undefined && isZeros(content)) this.#world.ledger.tore(content);
    }
    lose();
    // What a power cut took from its folder, or what lost a conflict and has no copy yet, was in its journal alone.
    this.#world.releaseLost(`lost with the journal of ${machine.name}`);
  }

  copied(machine: Machine): void {
    this.#copiedAt.set(machine, this.#world.ledger.moment);
  }

  /** Runs the set-back of a machine to its copy, or of its journal alone. */
  setBack(machine: Machine, what: 'all' | 'journal', set: () => void): void {
    const { ledger } = this.#world;
    const before = valuesOn(machine);
    if (what === 'journal') this.#releaseUnjournaled(machine);
    else this.#releaseBroughtBack(machine);
    set();
    if (what === 'journal') this.#releaseReplaced(machine);
    ledger.tookBack(machine.name, valuesOn(machine));
    for (const value of before) machine.onceHeld.add(value);
    this.#world.releaseLost(`only ${machine.name} had it, which was set back`);
  }

  /**
   * An old content that a user put back just before the journal was lost looks like a file that was never brought up to date. No
   * agent could tell; that value is not owed.
   */
  #releaseUnjournaled(machine: Machine): void {
    const { ledger, standing } = this.#world;
    for (const [path, inode] of machine.volume.disk.entries()) {
      const { content } = inode;
      if (content === undefined || machine.journal.disk(path)?.content === content.id) continue;
      if (standing.some(({ journal }) => journal.everHad(path, { content: content.id }))) {
        ledger.release(valueAt(inode), 'fate', `an old version when ${machine.name} lost its journal`);
      }
    }
  }

  /** What the agent itself replaced after its old journal was copied looks like a change that a user made knowing of what the journal shows. */
  #releaseReplaced({ name, journal, volume }: Machine): void {
    for (const row of journal.diskBelow('', undefined, Number.MAX_SAFE_INTEGER)) {
      const value = row.content ?? linkValue(journal.operation(row.dot));
      if (value !== undefined && valueAt(volume.disk.at(row.path)) !== value) {
        this.#world.ledger.release(value, 'fate', `replaced before ${name} got an old journal`);
      }
    }
  }

  /**
   * What its user let go of and brought back after the copy was made, and nobody else heard of. The copy may hold the value from before
   * that: the others know that it was let go of, and not that it came back. A disk from which it is yet to be deleted does not count.
   */
  #releaseBroughtBack(machine: Machine): void {
    const { ledger, standing } = this.#world;
    const others = standing.filter((other) => other !== machine);
    const elsewhere = valuesAmong(others, (path, operation) =>
      others.some(({ journal }) => {
        const isKnown = journal.operation(operation) !== undefined;
        return isKnown && !journal.heads(path).some((head) => dotKey(head) === dotKey(operation));
      }),
    );
    for (const { key, writer, timesReleased, owedSince } of ledger.owed()) {
      if (writer !== machine.name || timesReleased === 0 || elsewhere.has(key)) continue;
      if (owedSince > (this.#copiedAt.get(machine) ?? 0)) ledger.release(key, 'fate', 'brought back before a set-back');
    }
  }
}

/** The paths and inodes of each value in a machine's folder, as one text. */
function placesOn({ volume }: Machine): ReadonlyMap<ValueKey, string> {
  const places = new Map<ValueKey, string>();
  for (const [path, inode] of volume.disk.entries()) {
    const value = valueAt(inode);
    if (value !== undefined) places.set(value, `${places.get(value) ?? ''}\n${path} ${inode.number}`);
  }
  return places;
}

function linkValue(operation: Operation | undefined): ValueKey | undefined {
  return operation?.target === undefined ? undefined : `link:${operation.target}`;
}

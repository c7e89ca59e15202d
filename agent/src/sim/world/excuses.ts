import { type Dot, dotKey } from '@lockstep/shared';
import { isZeros } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';
import type { Torn } from '../disk/write-cache.ts';
import { type ValueKey, valueAt } from '../users/ledger.ts';
import type { Machine } from './machine.ts';
import { isOverAmong, valueOfRow, valuesAmong, valuesOn } from './values.ts';
import type { World } from './world.ts';

/** Values that no agent can owe after an accident, which destroyed the necessary knowledge. GUARANTEES lists each case. */
export class Excuses {
  readonly #world: World;
  /** When each machine was last copied, in moments of the ledger, and what its user had released by then. */
  readonly #copies = new Map<Machine, { readonly moment: number; readonly released: ReadonlySet<ValueKey> }>();
  /** Machines that lost their journal, or the newest part of it, and have not started since. */
  readonly #unjournaled = new Set<Machine>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Runs a power cut of a machine. Returns the torn files. */
  powerCut(machine: Machine, cut: () => readonly Torn[]): readonly Torn[] {
    const { ledger, remaining } = this.#world;
    const elsewhere = remaining.filter((other) => other !== machine).map((other) => valuesOn(other));
    const placesBefore = placesOn(machine);
    const torn = cut();
    // Half of a user's write may be kept, but is not owed. Zeros may be only where no member has what they replaced [PC7].
    for (const { before, now } of torn) {
      if (!isZeros(now) || !elsewhere.some((values) => values.has(before.id))) ledger.tore(now);
    }
    ledger.tookBack(machine.name, valuesOn(machine));
    const placesAfter = placesOn(machine);
    for (const value of new Set([...placesBefore.keys(), ...placesAfter.keys()])) {
      if (placesBefore.get(value) !== placesAfter.get(value)) ledger.movedBack(value);
    }
    // A value that a user brought back just before the cut looks like a delete that the cut has undone.
    for (const [path, inode] of machine.volume.disk.entries()) {
      const [row, value] = [machine.journal.disk.at(path), valueAt(inode)];
      if (row?.unsynced && row.fingerprint === undefined && value !== undefined) ledger.movedBack(value);
    }
    this.#world.releaseLost('lost in a power cut on the only machine that had it');
    return torn;
  }

  /** Runs the loss of a machine's journal. */
  journalLost(machine: Machine, lose: () => void): void {
    this.#releaseUnjournaled(machine);
    this.#releaseZeros(machine);
    lose();
    this.#unjournaled.add(machine);
    // Only its journal had values that a power cut removed from its folder, or that lost a conflict and have no copy yet.
    this.#world.releaseLost(`lost with the journal of ${machine.name}`);
  }

  /** Before an agent starts: its user may have restored an old content since the journal was lost, and may until the folder is compared. */
  starting(machine: Machine): void {
    if (machine.isRunning || !this.#unjournaled.delete(machine)) return;
    this.#releaseUnjournaled(machine);
    onceCompared(machine, () => this.#releaseUnjournaled(machine));
  }

  /**
   * After a machine was set back, until its agent compares the folder: a value may be where the copy has it, although its user has moved it
   * since. Its delete, or what replaced it, is only known to the others: the agent cannot know that it was away.
   */
  #releaseOnceCompared(machine: Machine): void {
    const { ledger } = this.#world;
    const { name, volume } = machine;
    const since = ledger.moment;
    const places = placesInCopy(machine);
    onceCompared(machine, () => {
      for (const { key, writer, path, timesReleased, owedSince } of ledger.owed()) {
        if (writer !== name || timesReleased === 0 || owedSince <= since) continue;
        if (valueAt(volume.disk.at(path)) === key && places.get(path)?.has(key) === true)
          ledger.release(key, 'accident', `moved there and back after ${name} was set back`);
      }
    });
  }

  /** Without its rows the simulator cannot distinguish what a power cut left from what a user wrote. */
  #releaseZeros(machine: Machine): void {
    for (const [, { content }] of machine.volume.disk.entries()) {
      if (content !== undefined && isZeros(content)) this.#world.ledger.tore(content);
    }
  }

  copied(machine: Machine): void {
    const { ledger } = this.#world;
    this.#copies.set(machine, { moment: ledger.moment, released: ledger.releasedBy(machine.name) });
  }

  /** Sets machines back to their copies, or only their journals. */
  setBack(machines: readonly Machine[], what: 'all' | 'journal'): void {
    const { ledger } = this.#world;
    for (const machine of machines) {
      for (const value of valuesOn(machine)) machine.onceHeld.add(value);
      if (what === 'all') this.#releaseBroughtBack(machine, machines);
      else {
        this.#releaseUnjournaled(machine);
        this.#releaseZeros(machine);
        this.#unjournaled.add(machine);
      }
    }
    const stoodBefore = this.#standing();
    for (const machine of machines) machine.setBack(what);
    for (const machine of machines) {
      if (what === 'journal') this.#releaseReplaced(machine);
      ledger.tookBack(machine.name, this.#leftOn(machine, what));
      if (what === 'all') this.#releaseOnceCompared(machine);
    }
    const names = machines.map(({ name }) => name).join(' and ');
    this.#world.releaseLost(`only ${names} had it, and were set back`);
    this.#noteLostCopies(stoodBefore);
  }

  /** The values of entries that no known operation has replaced. */
  #standing(): ReadonlySet<ValueKey> {
    const { remaining } = this.#world;
    return valuesAmong(remaining, isOverAmong(remaining));
  }

  /**
   * After a set-back: notes the values whose last copy was undone, although another member knows an operation that ends their conflict. A
   * member that still shows such a value replaces it, for the author of that operation knew the copy. It is owed, but may be in the history
   * alone.
   */
  #noteLostCopies(stoodBefore: ReadonlySet<ValueKey>): void {
    const { ledger } = this.#world;
    const stands = this.#standing();
    for (const { key } of ledger.owed()) if (stoodBefore.has(key) && !stands.has(key)) ledger.copyLost(key);
  }

  /**
   * The values that a machine has after it was set back, unless a member knows that they were deleted: the user brought them back at another
   * name, or as another version, and the copy has them from before the delete. One in its history alone counts if another member shows it.
   * The copy also knows that an entry was deleted if its user removed it, which no agent has seen.
   *
   * An entry that its user had replaced or deleted before the copy was made counts only as a head. The journal must have had it at its
   * path: a power cut brought it back, and the agent replaces it again [PC2]. This undoes a later move by its user.
   */
  #leftOn(machine: Machine, what: 'all' | 'journal'): ReadonlySet<ValueKey> {
    const { remaining } = this.#world;
    // With only an old journal, the disk still shows what the user brought back.
    const released = what === 'all' ? this.#copies.get(machine)?.released : undefined;
    const isBack = (path: string, inode: Inode): boolean => {
      const { content, target } = inode;
      const value = valueAt(inode);
      if (value === undefined || !released?.has(value)) return false;
      const entry = { ...(content && { content: content.id }), ...(target !== undefined && { target }) };
      return machine.journal.log.everHad(path, entry);
    };
    const wasRemoved = (path: string, operation: Dot): boolean => {
      const row = machine.journal.disk.at(path);
      return row !== undefined && dotKey(row.dot) === dotKey(operation) && machine.volume.disk.at(path) === undefined;
    };
    const isOver = isOverAmong(remaining);
    const isDeleted = (path: string, operation: Dot): boolean => wasRemoved(path, operation) || isOver(path, operation);
    const here = valuesAmong([machine], isDeleted, isBack);
    const elsewhere = valuesAmong(
      remaining.filter((other) => other !== machine),
      isDeleted,
    );
    return new Set([...valuesOn(machine)].filter((value) => here.has(value) || elsewhere.has(value)));
  }

  /**
   * An old content that a user restored shortly before the journal was lost, or before the next start, looks like a file never updated. No
   * agent could distinguish them: the value is not owed.
   */
  #releaseUnjournaled(machine: Machine): void {
    const { ledger, remaining } = this.#world;
    for (const [path, inode] of machine.volume.disk.entries()) {
      const { content } = inode;
      if (content === undefined || machine.journal.disk.at(path)?.content === content.id) continue;
      if (remaining.some(({ journal }) => journal.log.everHad(path, { content: content.id }))) {
        ledger.release(valueAt(inode), 'accident', `an old version when ${machine.name} lost its journal`);
      }
    }
  }

  /** A replacement by the agent after its old journal was copied looks like a user's change of the version in that journal. */
  #releaseReplaced(machine: Machine): void {
    const { name, journal, volume } = machine;
    for (const row of journal.disk.below('', undefined, Number.MAX_SAFE_INTEGER)) {
      const value = valueOfRow(machine, row);
      if (value !== undefined && valueAt(volume.disk.at(row.path)) !== value) {
        this.#world.ledger.release(value, 'accident', `replaced before the journal of ${name} was set back`);
      }
    }
  }

  /**
   * Values that the user released and brought back after the copy was made, unknown to other members. The copy may hold the value from
   * before: the others know the release, but not the return. A disk on which the delete is still to be applied does not count. If others
   * know the return, and the copy is from the time in between, the member deletes the value again.
   * `together`: the machines that are set back with it.
   */
  #releaseBroughtBack(machine: Machine, together: readonly Machine[]): void {
    const { ledger, remaining } = this.#world;
    const others = remaining.filter((other) => !together.includes(other));
    const elsewhere = valuesAmong(others, isOverAmong(others));
    const copy = this.#copies.get(machine);
    for (const { key, writer, timesReleased, owedSince } of ledger.owed()) {
      if (writer !== machine.name || timesReleased === 0 || owedSince <= (copy?.moment ?? 0)) continue;
      if (!elsewhere.has(key)) ledger.release(key, 'accident', 'brought back before a set-back');
      else if (copy?.released.has(key)) ledger.deletedAgain(key);
    }
  }
}

/** Calls `then` when the agent begins to compare its folder. */
function onceCompared(machine: Machine, then: () => void): void {
  const before = machine.watches;
  machine.watches = () => {
    machine.watches = () => {};
    before();
    then();
  };
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

/** The values at each path of a machine that was just set back: in the folder, and as its journal has them. */
function placesInCopy(machine: Machine): ReadonlyMap<string, ReadonlySet<ValueKey>> {
  const places = new Map<string, Set<ValueKey>>();
  const add = (path: string, value: ValueKey | undefined): void => {
    if (value !== undefined) places.set(path, (places.get(path) ?? new Set()).add(value));
  };
  for (const [path, inode] of machine.volume.disk.entries()) add(path, valueAt(inode));
  for (const row of machine.journal.disk.below('', undefined, Number.MAX_SAFE_INTEGER))
    add(row.path, valueOfRow(machine, row));
  return places;
}

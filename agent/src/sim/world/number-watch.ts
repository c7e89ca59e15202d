import { dotKey, type Operation, type OriginId } from '@lockstep/shared';
import type { Machine } from './machine.ts';

/**
 * Watches the numbers of operations where machines are set back: that none is given out again by a machine that could not know better
 * [FK2], and that nobody counts as a holder who has another operation under a number [FK6].
 */
export class NumberWatch {
  /** The stamp of each operation that was given a number, by its dot. */
  readonly #given = new Map<string, number>();

  /** A machine wrote these operations to its journal. Says what is wrong, or nothing. */
  appended({ name, id, journal, engine }: Machine, operations: readonly Operation[]): string | undefined {
    for (const operation of operations) {
      if (operation.origin !== journal.origin) continue;
      const key = dotKey(operation);
      const before = this.#given.get(key);
      this.#given.set(key, operation.hlc);
      if (before === undefined || before === operation.hlc) continue;
      const hasOthers = journal.members().some((member) => member.id !== id && member.standing === 'joined');
      // Whom it heard may have known no more than it did, and have confirmed the number.
      const hasHeard = engine?.peers.all().some(({ lastHeardMs }) => lastHeardMs !== undefined) ?? false;
      if (hasOthers && !hasHeard) return `${name} gave number ${key} out again, and had heard nobody since it started`;
    }
    return undefined;
  }

  /** Compares what each machine counts as held by another with what that one has under the same numbers. */
  counted(machines: readonly Machine[]): string | undefined {
    for (const machine of machines) {
      for (const other of machines) {
        const peer = machine.engine?.peers.get(other.id);
        // One that was set back since it said so did hold it.
        if (peer?.ready !== true || other.engine?.peers.get(machine.id)?.ready !== true) continue;
        const [known, knownThere] = [machine.journal.known(), other.journal.known()];
        for (const [origin, upTo] of Object.entries(peer.applied.vector) as [OriginId, number][]) {
          const seq = Math.min(upTo, known[origin] ?? 0, knownThere[origin] ?? 0);
          const here = machine.journal.mark(origin, seq);
          const there = other.journal.mark(origin, seq);
          if (here === undefined || there === undefined || here === there) continue;
          return `${machine.name} counts ${origin}:${seq} as held by ${other.name}, which has another operation there`;
        }
      }
    }
    return undefined;
  }
}

import { type Applied, dotKey, type Operation, type OriginId, type VersionVector } from '@lockstep/shared';
import type { Journal } from '../../sync/ports/journal.ts';
import type { Machine } from './machine.ts';

/** The log of a journal, until it changes. `compared`: what its machine last counted as held by the machine with the other log. */
interface LogView {
  readonly known: VersionVector;
  readonly compared: WeakMap<LogView, Applied>;
}

/**
 * Checks the numbers of operations when machines are set back. No machine assigns a number again before it has received anything from
 * another member [FK2]. No member with another operation under a number counts as a holder [FK6].
 */
export class NumberWatch {
  /** The timestamp of each numbered operation, by its dot. */
  readonly #given = new Map<string, number>();
  readonly #logs = new Map<Journal, LogView>();

  /** The log of a machine has changed. */
  changed({ journal }: Machine): void {
    this.#logs.delete(journal);
  }

  /** A machine journaled these operations. Returns a violation, or undefined. */
  appended({ name, id, journal, engine }: Machine, operations: readonly Operation[]): string | undefined {
    for (const operation of operations) {
      if (operation.origin !== journal.origin) continue;
      const key = dotKey(operation);
      const before = this.#given.get(key);
      this.#given.set(key, operation.hlc);
      if (before === undefined || before === operation.hlc) continue;
      const hasOthers = journal.members().some((member) => member.id !== id && member.standing === 'joined');
      // The others that it heard may not have known the number either, and have confirmed it.
      const hasHeard = engine?.peers.all().some(({ lastHeardMs }) => lastHeardMs !== undefined) ?? false;
      if (hasOthers && !hasHeard)
        return `${name} assigned number ${key} again, and had received nothing since it started`;
    }
    return undefined;
  }

  /** Compares the operations that each machine counts as held by another with those of that one. */
  counted(machines: readonly Machine[]): string | undefined {
    for (const machine of machines) {
      for (const other of machines) {
        const peer = machine.engine?.peers.get(other.id);
        // One that was set back since did hold them.
        if (peer?.ready !== true || other.engine?.peers.get(machine.id)?.ready !== true) continue;
        const [log, logThere] = [this.#log(machine), this.#log(other)];
        if (log.compared.get(logThere) === peer.applied) continue;
        log.compared.set(logThere, peer.applied);
        for (const [origin, upTo] of Object.entries(peer.applied.vector) as [OriginId, number][]) {
          const seq = Math.min(upTo, log.known[origin] ?? 0, logThere.known[origin] ?? 0);
          const here = machine.journal.mark(origin, seq);
          const there = other.journal.mark(origin, seq);
          if (here === undefined || there === undefined || here === there) continue;
          return `${machine.name} counts ${origin}:${seq} as held by ${other.name}, which has another operation there`;
        }
      }
    }
    return undefined;
  }

  #log({ journal }: Machine): LogView {
    const log = this.#logs.get(journal) ?? { known: journal.known(), compared: new WeakMap() };
    this.#logs.set(journal, log);
    return log;
  }
}

import { type Applied, dotKey, type Operation, type OriginId, type VersionVector } from '@lockstep/shared';
import { namedMarks } from '../../core/marks.ts';
import { covers } from '../../core/version.ts';
import type { Journal } from '../../sync/ports/journal.ts';
import type { Machine } from './machine.ts';

/** The log of a journal, until it changes. `compared`: what its machine last counted as held by the machine with the other log. */
interface LogView {
  readonly known: VersionVector;
  readonly compared: WeakMap<LogView, Applied>;
}

/** An operation to which a machine gave a number. The marks are those of its log up to it, and before it. */
interface Given {
  readonly hlc: number;
  readonly mark: string | undefined;
  readonly markBefore: string | undefined;
}

/**
 * Checks the numbers of operations when machines are set back. No machine assigns a number again before it has received anything from
 * another member [FK2]. No member with another operation under a number counts as a holder [FK6].
 */
export class NumberWatch {
  /** The operations that had each number, by its dot: several after a set-back. */
  readonly #given = new Map<string, Given[]>();
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
      const given = this.#given.get(key) ?? [];
      this.#given.set(key, given);
      const before = given.at(-1);
      const { origin, seq, hlc } = operation;
      given.push({ hlc, mark: journal.log.mark(origin, seq), markBefore: journal.log.mark(origin, seq - 1) });
      if (before === undefined || before.hlc === hlc) continue;
      const hasOthers = journal.members.all().some((member) => member.id !== id && member.membership === 'joined');
      // The others that it heard may not have known the number either, and have confirmed it.
      const hasHeard = engine?.peers.all().some(({ lastHeardMs }) => lastHeardMs !== undefined) ?? false;
      if (hasOthers && !hasHeard)
        return `${name} assigned number ${key} again, and had received nothing since it started`;
    }
    return undefined;
  }

  /**
   * True if `newer` supersedes `operation` by its number alone: its author had another operation there, of a branch that is undone. It names
   * a later number, at which the fork was found, and `seal` lies between both. Without the branch it is unknown where it began.
   */
  supersedesUnseen(newer: Operation, { origin, seq, hlc }: Operation, seal: number | undefined): boolean {
    if (newer.origin === origin || !covers(newer.version, { origin, seq })) return false;
    const named = namedMarks(newer).find((dot) => dot.origin === origin);
    if (named === undefined || seal === undefined || seq > seal || named.seq <= seal) return false;
    const mark = this.#given.get(dotKey({ origin, seq }))?.find((given) => given.hlc === hlc)?.mark;
    let markThere: string | undefined = named.mark;
    for (let number = named.seq; number > seq; number--) {
      const there = this.#given.get(dotKey({ origin, seq: number }))?.find((given) => given.mark === markThere);
      markThere = there?.markBefore;
    }
    return mark !== undefined && markThere !== undefined && markThere !== mark;
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
          const here = machine.journal.log.mark(origin, seq);
          const there = other.journal.log.mark(origin, seq);
          if (here === undefined || there === undefined || here === there) continue;
          return `${machine.name} counts ${origin}:${seq} as held by ${other.name}, which has another operation there`;
        }
      }
    }
    return undefined;
  }

  #log({ journal }: Machine): LogView {
    const log = this.#logs.get(journal) ?? { known: journal.log.known(), compared: new WeakMap() };
    this.#logs.set(journal, log);
    return log;
  }
}

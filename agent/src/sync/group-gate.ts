import { dotKey, type Operation, type OriginId, type VersionVector } from '@lockstep/shared';
import type { Journal } from './ports/journal.ts';

/** What the gate wants to know of a member that can be reached. */
interface Reachable {
  readonly origin: OriginId | undefined;
  readonly known: VersionVector;
}

/**
 * Holds back the operations of a rename until all of them are here, so that nobody sees both names or neither. It opens
 * anyway when no reachable member has the rest: then what is known is all there is.
 */
export class GroupGate {
  readonly #journal: Journal;
  readonly #reachable: () => Iterable<Reachable>;
  readonly #spans = new Map<string, number>();

  constructor(journal: Journal, reachable: () => Iterable<Reachable>) {
    this.#journal = journal;
    this.#reachable = reachable;
  }

  isOpen(operation: Operation): boolean {
    const { origin, group } = operation;
    if (group === undefined) return true;
    const last = group + this.#span(operation, group) - 1;
    if ((this.#journal.known()[origin] ?? 0) >= last) return true;
    for (const peer of this.#reachable()) {
      // Who made a group made it whole: the rest is on its way, even if the word that it exists is not here yet.
      if (peer.origin === origin || (peer.known[origin] ?? 0) >= last) return false;
    }
    return true;
  }

  #span({ origin }: Operation, group: number): number {
    const key = dotKey({ origin, seq: group });
    const cached = this.#spans.get(key);
    if (cached !== undefined) return cached;
    const span = this.#journal.operation({ origin, seq: group })?.span ?? 1;
    if (this.#spans.size >= 64) this.#spans.clear();
    this.#spans.set(key, span);
    return span;
  }
}

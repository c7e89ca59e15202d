import { dotKey, groupTimeoutMs, type Operation, type OriginId, type VersionVector } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Journal } from '../ports/journal.ts';

const spansMax = 64;

/** What the gate wants to know of a member that can be reached. */
interface Reachable {
  readonly origin: OriginId | undefined;
  readonly known: VersionVector;
}

/** An origin whose group is not complete. */
interface Wait {
  /** How much of the origin was known when last some of it came, and when that was. */
  readonly known: number;
  readonly sinceMs: number;
  /** Nothing more came for so long that it is not waited for. */
  isOver: boolean;
}

/**
 * Holds back the operations of a rename until all of them are here, so that nobody sees both names or neither. It opens
 * anyway when no reachable member has the rest, or when none of it comes for a long time: then what is known is all there is.
 */
export class RenameGate {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #reachable: () => Iterable<Reachable>;
  readonly #spans = new LRUCache<string, number>({ max: spansMax });
  readonly #waits = new Map<OriginId, Wait>();

  constructor(journal: Journal, clock: Clock, reachable: () => Iterable<Reachable>) {
    this.#journal = journal;
    this.#clock = clock;
    this.#reachable = reachable;
  }

  isOpen(operation: Operation): boolean {
    const { origin, group } = operation;
    if (group === undefined) return true;
    const last = group + this.#span(operation, group) - 1;
    const known = this.#journal.known()[origin] ?? 0;
    if (known >= last) return true;
    for (const peer of this.#reachable()) {
      // Who made a group made it whole: the rest is on its way, even if the word that it exists is not here yet.
      if (peer.origin === origin || (peer.known[origin] ?? 0) >= last) return this.#waited(origin, known);
    }
    return true;
  }

  /** Called now and then: true when something opened because it has been waited for in vain. */
  tick(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const knownNow = this.#journal.known();
    let opened = false;
    for (const [origin, wait] of this.#waits) {
      if ((knownNow[origin] ?? 0) > wait.known) this.#waits.delete(origin);
      else if (!wait.isOver && nowMs - wait.sinceMs >= groupTimeoutMs) {
        wait.isOver = true;
        opened = true;
      }
    }
    return opened;
  }

  /** Whether the rest of the origin's group has been waited for in vain; begins to wait when some of it has come meanwhile. */
  #waited(origin: OriginId, known: number): boolean {
    const wait = this.#waits.get(origin);
    if (wait?.known === known) return wait.isOver;
    this.#waits.set(origin, { known, sinceMs: this.#clock.monotonicMs(), isOver: false });
    return false;
  }

  #span({ origin }: Operation, group: number): number {
    const key = dotKey({ origin, seq: group });
    const cached = this.#spans.get(key);
    if (cached !== undefined) return cached;
    const span = this.#journal.operation({ origin, seq: group })?.span ?? 1;
    this.#spans.set(key, span);
    return span;
  }
}

import { dotKey, groupTimeoutMs, type Operation, type OriginId, type VersionVector } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Journal } from '../ports/journal.ts';

const groupsMax = 64;

/** A reachable member, as far as the gate needs it. */
interface Reachable {
  readonly origin: OriginId | undefined;
  readonly known: VersionVector;
}

/** The wait for an origin whose group is incomplete. */
interface Wait {
  /** The highest known number of the origin at its last progress, and the time of that. */
  readonly known: number;
  readonly sinceMs: number;
  /** No progress for `groupTimeoutMs`: the group is applied as it is. */
  isOver: boolean;
}

/**
 * Holds back the operations of a rename until all of them are here, so that users see neither both names nor none. It opens
 * early if no reachable member has the rest, or if no progress is made for a long time: the known part is then all there is.
 */
export class RenameGate {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #reachable: () => Iterable<Reachable>;
  readonly #groupSizes = new LRUCache<string, number>({ max: groupsMax });
  readonly #waits = new Map<OriginId, Wait>();

  constructor(journal: Journal, clock: Clock, reachable: () => Iterable<Reachable>) {
    this.#journal = journal;
    this.#clock = clock;
    this.#reachable = reachable;
  }

  /** Whether the operation may be applied now. */
  isOpen(operation: Operation): boolean {
    const { origin, group } = operation;
    if (group === undefined) return true;
    const last = group + this.#sizeOf(operation, group) - 1;
    const known = this.#journal.log.known()[origin] ?? 0;
    if (known >= last) return true;
    for (const peer of this.#reachable()) {
      // An origin makes its groups whole: the rest is on its way, even before that member announces it.
      if (peer.origin === origin || (peer.known[origin] ?? 0) >= last) return this.#waited(origin, known);
    }
    return true;
  }

  /** Ends waits that timed out. True if a group opened because of that. Must be called regularly. */
  tick(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const knownNow = this.#journal.log.known();
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

  /** Whether the wait for the rest of the origin's group timed out. Starts a new wait after progress. */
  #waited(origin: OriginId, known: number): boolean {
    const wait = this.#waits.get(origin);
    if (wait?.known === known) return wait.isOver;
    this.#waits.set(origin, { known, sinceMs: this.#clock.monotonicMs(), isOver: false });
    return false;
  }

  #sizeOf({ origin }: Operation, group: number): number {
    const key = dotKey({ origin, seq: group });
    const cached = this.#groupSizes.get(key);
    if (cached !== undefined) return cached;
    const span = this.#journal.log.operation({ origin, seq: group })?.span ?? 1;
    this.#groupSizes.set(key, span);
    return span;
  }
}

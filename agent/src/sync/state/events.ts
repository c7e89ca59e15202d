import type { Clock } from '../ports/clock.ts';
import type { Journal } from '../ports/journal.ts';
import { writeIfRoom } from './disk-room.ts';

/**
 * Kinds of events for people:
 * `started`, `active`, `paused`, `resumed`, `stopped`: of this member;
 * `joined` (a session with another member began), `away` (it ended), `down`, `left`: of another member;
 * `resynced` (a catch-up ended); `power-cut` (its effect on users' writes, found at the start);
 * `cache-lost` (the folder of a member that fetches contents on demand was found empty, and nothing counted as deleted);
 * `delivered` (a burst of local changes has reached that many members);
 * `conflict`; `content-lost` (no member has the content of an operation any more, and the path was settled without it);
 * `forked` (a member was restored from a snapshot and reused sequence numbers); `problem`; `repaired` (a damaged file has its content again).
 */
export type EventKind =
  | 'started'
  | 'active'
  | 'paused'
  | 'resumed'
  | 'stopped'
  | 'joined'
  | 'away'
  | 'down'
  | 'left'
  | 'resynced'
  | 'delivered'
  | 'power-cut'
  | 'cache-lost'
  | 'conflict'
  | 'forked'
  | 'content-lost'
  | 'problem'
  | 'repaired';

/** Writes events to the journal and wakes their readers. */
export class Events {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Adds an event. If the disk has no room for it, it is dropped and takes no number. */
  add(kind: EventKind, data: Readonly<Record<string, unknown>>): void {
    writeIfRoom(() => this.#journal.events.add(this.#clock.wallMs(), kind, data));
    for (const listener of this.#listeners) listener();
  }

  /** Calls `wake` after events were added, until the returned function is called. */
  onAdded(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
  }
}

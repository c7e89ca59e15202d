import type { Clock } from '../ports/clock.ts';
import type { Journal } from '../ports/journal.ts';
import { writeIfRoom } from './disk-room.ts';

/**
 * What people are told, by kind:
 * `started`, `active`, `paused`, `resumed`, `stopped` of this member; `joined` (a session with another member began), `away` (it ended), `down`, `left`;
 * `resynced`; `power-cut` (what it did to users' writes, found at the start); `delivered` (a burst of changes made here is on so many
 * members); `conflict`; `content-lost` (no member has the content of an operation any more, and it was settled without); `forked` (a member was set back to a snapshot and numbered other operations alike); `problem`;
 * `repaired` (a damaged file has its content again).
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
  | 'conflict'
  | 'forked'
  | 'content-lost'
  | 'problem'
  | 'repaired';

/** Numbers events, keeps them in the journal, and wakes those who follow them. */
export class Events {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** An event for which the disk has no room is left out, and takes no number. */
  add(kind: EventKind, data: Readonly<Record<string, unknown>>): void {
    writeIfRoom(() => this.#journal.addEvent(this.#clock.wallMs(), kind, data));
    for (const listener of this.#listeners) listener();
  }

  /** Calls `wake` after events were added, until the returned function is called. */
  onAdded(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
  }
}

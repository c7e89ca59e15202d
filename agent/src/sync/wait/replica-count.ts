import { type Dot, dotKey, isLive, type Operation, type VersionVector } from '@lockstep/shared';
import { isConflictPath } from '../../core/conflict-name.ts';
import { blockingOrigins, holds, holdsAll } from '../../core/durability.ts';
import { withinSeals } from '../../core/marks.ts';
import { countBeyond } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;

/** The operations that must be held: all up to a vector, or certain ones. */
export type Goal = { readonly vector: VersionVector } | { readonly dots: readonly Dot[] };

function reached(applied: Peer['applied'], goal: Goal): boolean {
  return 'vector' in goal ? holdsAll(applied, goal.vector) : goal.dots.every((dot) => holds(applied, dot));
}

/**
 * Counts the members that hold a goal, this one included. An operation of the goal may be superseded while its content lives on in another
 * operation. The other member may not have that one on its disk yet:
 * - one that lost a conflict counts as held once it is joined, but its content is only in its conflict copy;
 * - one whose path was renamed is superseded by a delete, and its content is only at the new name;
 * - one that won, or whose mode was changed, is superseded by an operation that keeps it. So a member whose vector reaches the goal counts
 *   under two conditions: this member knows all that the other knew at that moment, and the other holds all such operations among it. Content
 *   that a user has knowingly overwritten or deleted since is not required.
 */
export class ReplicaCount {
  readonly #context: Context;
  readonly #goal: Goal;
  /** The operations that a member knew when its vector first reached the goal. */
  readonly #reachedAt = new Map<Peer | 'self', VersionVector>();
  readonly #elsewhere: Dot[] = [];
  #lastRow: number;

  constructor(context: Context, goal: Goal) {
    this.#context = context;
    this.#goal = goal;
    this.#lastRow = context.journal.log.length();
  }

  /** The number of members that hold the goal, of `others` and, if `withSelf`, this one. */
  count(others: readonly Peer[], withSelf: boolean): number {
    const { journal } = this.#context;
    this.#findElsewhere();
    const known = journal.log.known();
    const self = withSelf && this.#holds('self', journal.applied(), known, known) ? 1 : 0;
    return self + others.filter((peer) => this.#holds(peer, peer.applied, peer.known, known)).length;
  }

  /** Operations that a member with this `applied` lacks, at most `limit`. */
  missing(applied: Peer['applied'], limit: number): readonly Dot[] {
    const goal =
      'vector' in this.#goal
        ? blockingOrigins(applied, this.#goal.vector)
        : this.#goal.dots.filter((dot) => !holds(applied, dot));
    return [...goal, ...this.#elsewhere.filter((dot) => !holds(applied, dot))].slice(0, limit);
  }

  /** True for an operation that is counted, and that a member with this `applied` lacks. */
  lacks(applied: Peer['applied'], dot: Dot): boolean {
    return this.#isWanted(dot) && !holds(applied, dot);
  }

  #holds(member: Peer | 'self', applied: Peer['applied'], knows: VersionVector, known: VersionVector): boolean {
    if (!reached(applied, this.#goal)) {
      this.#reachedAt.delete(member);
      return false;
    }
    const at = this.#reachedAt.get(member) ?? knows;
    this.#reachedAt.set(member, at);
    // Numbers above a seal that was set since do not count: this member never receives them.
    const stillCounts = withinSeals(at, this.#context.journal.seals.all());
    return countBeyond(stillCounts, known) === 0 && this.#elsewhere.every((dot) => holds(applied, dot));
  }

  #findElsewhere(): void {
    for (;;) {
      const rows = this.#context.journal.log.rows({ afterRow: this.#lastRow, limit: rowsAtOnce });
      for (const { row, operation } of rows) {
        this.#lastRow = row;
        if (isLive(operation) && this.#isElsewhere(operation)) this.#elsewhere.push(operation);
      }
      if (rows.length < rowsAtOnce) return;
    }
  }

  #isElsewhere({ from, path, keeps = [] }: Operation): boolean {
    // An operation that has not arrived here yet may be one that keeps an operation of the goal.
    const isWanted = (dot: Dot): boolean =>
      this.#isWanted(dot) || this.#context.journal.log.operation(dot) === undefined;
    return from !== undefined || isConflictPath(path) || keeps.some(isWanted);
  }

  #isWanted(dot: Dot): boolean {
    const key = dotKey(dot);
    const inGoal =
      'vector' in this.#goal
        ? dot.seq <= (this.#goal.vector[dot.origin] ?? 0)
        : this.#goal.dots.some((wanted) => dotKey(wanted) === key);
    return inGoal || this.#elsewhere.some((wanted) => dotKey(wanted) === key);
  }
}

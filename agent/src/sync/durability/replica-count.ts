import { type Dot, dotKey, isLive, type Operation, type VersionVector } from '@lockstep/shared';
import { isConflictPath } from '../../core/conflict-name.ts';
import { blockingOrigins, holds, holdsAll } from '../../core/durability.ts';
import { withinSeals } from '../../core/marks.ts';
import { countBeyond } from '../../core/version.ts';
import type { Peer } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;

/** What must be held: everything up to a vector, or certain operations. */
export type Goal = { readonly vector: VersionVector } | { readonly dots: readonly Dot[] };

function reached(applied: Peer['applied'], goal: Goal): boolean {
  return 'vector' in goal ? holdsAll(applied, goal.vector) : goal.dots.every((dot) => holds(applied, dot));
}

/**
 * Counts the members that hold a goal, this one included. An operation that lost a conflict counts as held once it is joined, for
 * then it is no head any more; but its content is only where its conflict copy is. Likewise one whose path was renamed meanwhile is
 * superseded by a delete, and its content is only at the new name; and one that won, or whose mode was changed, is superseded by an
 * operation that keeps it, which the other may not have on its disk yet. So a member whose vector reaches the goal
 * counts when this member knows all that the other knew at that moment, and the other holds all of these operations among it. What a
 * user has overwritten or deleted since, knowing of it, is not asked for.
 */
export class ReplicaCount {
  readonly #context: Context;
  readonly #goal: Goal;
  /** What a member knew when its vector first reached the goal. */
  readonly #reachedAt = new Map<Peer | 'self', VersionVector>();
  readonly #elsewhere: Dot[] = [];
  #lastRow: number;

  constructor(context: Context, goal: Goal) {
    this.#context = context;
    this.#goal = goal;
    this.#lastRow = context.journal.counts().operations;
  }

  count(others: readonly Peer[]): number {
    const { journal } = this.#context;
    this.#findElsewhere();
    const known = journal.known();
    const self = this.#holds('self', journal.applied(), known, known) ? 1 : 0;
    return self + others.filter((peer) => this.#holds(peer, peer.applied, peer.known, known)).length;
  }

  /** What a member lacks, at most `limit` operations. */
  missing(applied: Peer['applied'], limit: number): readonly Dot[] {
    const goal =
      'vector' in this.#goal
        ? blockingOrigins(applied, this.#goal.vector)
        : this.#goal.dots.filter((dot) => !holds(applied, dot));
    return [...goal, ...this.#elsewhere.filter((dot) => !holds(applied, dot))].slice(0, limit);
  }

  #holds(member: Peer | 'self', applied: Peer['applied'], knows: VersionVector, known: VersionVector): boolean {
    if (!reached(applied, this.#goal)) {
      this.#reachedAt.delete(member);
      return false;
    }
    const at = this.#reachedAt.get(member) ?? knows;
    this.#reachedAt.set(member, at);
    // Numbers above a seal that was set since count nowhere: this member never gets to know them.
    const stillCounts = withinSeals(at, this.#context.journal.seals());
    return countBeyond(stillCounts, known) === 0 && this.#elsewhere.every((dot) => holds(applied, dot));
  }

  #findElsewhere(): void {
    for (;;) {
      const rows = this.#context.journal.log({ afterRow: this.#lastRow, limit: rowsAtOnce });
      for (const { row, operation } of rows) {
        this.#lastRow = row;
        if (isLive(operation) && this.#isElsewhere(operation)) this.#elsewhere.push(operation);
      }
      if (rows.length < rowsAtOnce) return;
    }
  }

  #isElsewhere({ from, path, keeps = [] }: Operation): boolean {
    // An operation that has not come here yet may be one that keeps a wanted one.
    const isWanted = (dot: Dot): boolean => this.#isWanted(dot) || this.#context.journal.operation(dot) === undefined;
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

import type { Applied, OriginId, SeqRange, VersionVector } from '@lockstep/shared';
import { markAt, originsInOrder, withinSeals } from '../../core/marks.ts';
import type { Journal } from '../ports/journal.ts';

/** A member's claim: the operations that it knows, with the mark of each origin's chain there, and those that it holds. */
export interface Claim {
  readonly known: VersionVector;
  readonly marks: Uint8Array;
  readonly applied: Applied;
}

/** The part of a claim that this member accepts. */
export interface Judged {
  readonly known: VersionVector;
  readonly applied: Applied;
  /** An origin whose log at the peer differs from this member's. */
  readonly forked: OriginId | undefined;
}

/**
 * How far the log of each origin is known to be equal at one peer and here. A number identifies an operation only where the chains up
 * to it are equal: after a restore from a snapshot, one number can belong to two operations.
 */
export class Agreement {
  readonly #journal: Journal;
  readonly #agreed = new Map<OriginId, number>();
  /** Origins of which the peer knows more than this member: compared once this member knows as much. */
  readonly #ahead = new Map<OriginId, { readonly seq: number; readonly mark: string | undefined }>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** True if a part of the peer's claim could not be compared yet. */
  get isBehind(): boolean {
    return this.#ahead.size > 0;
  }

  /** Discards all comparisons, at the start of a session. */
  reset(): void {
    this.#agreed.clear();
    this.#ahead.clear();
  }

  /** Compares the chains that both members have. Operations that the peer holds count only as far as these are equal. */
  judge({ known, marks, applied }: Claim): Judged {
    const own = this.#journal.log.known();
    const seals = this.#journal.seals.all();
    let forked: OriginId | undefined;
    originsInOrder(known).forEach((origin, index) => {
      const seq = known[origin] ?? 0;
      const seal = seals[origin] ?? Number.POSITIVE_INFINITY;
      if ((this.#agreed.get(origin) ?? 0) > seal) this.#agreed.set(origin, seal);
      if ((this.#ahead.get(origin)?.seq ?? 0) > seal) this.#ahead.delete(origin);
      // The peer does not know the seal yet.
      if (seq > seal || this.#agreed.get(origin) === seq) return;
      const reached = own[origin] ?? 0;
      if (seq > reached && !this.#ahead.has(origin)) this.#ahead.set(origin, { seq, mark: markAt(marks, index) });
      const ahead = this.#ahead.get(origin);
      const isCaughtUp = ahead !== undefined && ahead.seq <= reached;
      if (isCaughtUp && !this.#compare(origin, ahead.seq, ahead.mark)) forked ??= origin;
      if (isCaughtUp) this.#ahead.delete(origin);
      if (seq <= reached && !this.#compare(origin, seq, markAt(marks, index))) forked ??= origin;
    });
    return { known: withinSeals(known, seals), applied: this.#within(applied), forked };
  }

  /** False if the chains differ. A mark that was not sent proves nothing. */
  #compare(origin: OriginId, seq: number, mark: string | undefined): boolean {
    if (mark === undefined) return true;
    if (this.#journal.log.mark(origin, seq) !== mark) return false;
    this.#agreed.set(origin, seq);
    return true;
  }

  #within(applied: Applied): Applied {
    const vector: Record<OriginId, number> = {};
    for (const [origin, seq] of Object.entries(applied.vector) as [OriginId, number][]) {
      const held = Math.min(seq, this.#agreed.get(origin) ?? 0);
      if (held > 0) vector[origin] = held;
    }
    const ranges: Record<OriginId, readonly SeqRange[]> = {};
    for (const [origin, list] of Object.entries(applied.ranges) as [OriginId, readonly SeqRange[]][]) {
      const agreed = this.#agreed.get(origin) ?? 0;
      const within = list
        .filter(([from]) => from <= agreed)
        .map(([from, to]): SeqRange => [from, Math.min(to, agreed)]);
      if (within.length > 0) ranges[origin] = within;
    }
    return { vector, ranges };
  }
}

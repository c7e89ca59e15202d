import type { Applied, OriginId, SeqRange, VersionVector } from '@lockstep/shared';
import { markAt, originsInOrder, withinSeals } from '../../core/marks.ts';
import type { Journal } from '../ports/journal.ts';

/** What a member says of what it knows, with the mark of the chain of each origin there. */
export interface Claim {
  readonly known: VersionVector;
  readonly marks: Uint8Array;
  readonly applied: Applied;
}

/** What a claim is worth to this member. */
export interface Judged {
  readonly known: VersionVector;
  readonly applied: Applied;
  /** An origin whose log is another one there. */
  readonly forked: OriginId | undefined;
}

/**
 * How far the log of each origin is known to be the same at one peer as here. A number tells which operation it is only where the
 * chains up to it are equal: after a member was set back to a snapshot, one number can stand for two operations.
 */
export class Agreement {
  readonly #journal: Journal;
  readonly #agreed = new Map<OriginId, number>();
  /** The peer knows more of the origin than this member: compared once this member knows as much. */
  readonly #ahead = new Map<OriginId, { readonly seq: number; readonly mark: string | undefined }>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Some of what the peer said could not be compared yet. */
  get isBehind(): boolean {
    return this.#ahead.size > 0;
  }

  /** A session begins: nothing that was compared before counts. */
  reset(): void {
    this.#agreed.clear();
    this.#ahead.clear();
  }

  /** Compares the chains where both members have them. What the peer holds counts only as far as these are equal. */
  judge({ known, marks, applied }: Claim): Judged {
    const own = this.#journal.known();
    const seals = this.#journal.seals();
    let forked: OriginId | undefined;
    originsInOrder(known).forEach((origin, index) => {
      const seq = known[origin] ?? 0;
      const seal = seals[origin] ?? Number.POSITIVE_INFINITY;
      if ((this.#agreed.get(origin) ?? 0) > seal) this.#agreed.set(origin, seal);
      if ((this.#ahead.get(origin)?.seq ?? 0) > seal) this.#ahead.delete(origin);
      // The peer has not heard of the seal yet.
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

  /** False when the chains differ. A mark that was not sent proves nothing. */
  #compare(origin: OriginId, seq: number, mark: string | undefined): boolean {
    if (mark === undefined) return true;
    if (this.#journal.mark(origin, seq) !== mark) return false;
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

import type { Dot, OriginId } from '@lockstep/shared';

interface Span {
  readonly origin: OriginId;
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
}

/** When something last happened to runs of operations; only the newest are kept, so that it never grows. */
export class SeqRangeLog {
  readonly #spansMax: number;
  readonly #spans: Span[] = [];
  /** Where the next one goes once all places are taken. */
  #oldest = 0;

  constructor(spansMax: number) {
    this.#spansMax = spansMax;
  }

  /** It happened to the operations `from` to `to` of `origin`. */
  add(origin: OriginId, from: number, to: number, atMs: number): void {
    const span = { origin, from, to, atMs };
    if (this.#spans.length < this.#spansMax) {
      this.#spans.push(span);
      return;
    }
    this.#spans[this.#oldest] = span;
    this.#oldest = (this.#oldest + 1) % this.#spansMax;
  }

  /** It happened to these operations: neighbours in one run make one span. */
  addAll(dots: readonly Dot[], atMs: number): void {
    let first = dots[0];
    let last = first;
    for (const dot of dots) {
      if (first !== undefined && last !== undefined && (dot.origin !== first.origin || dot.seq > last.seq + 1)) {
        this.add(first.origin, first.seq, last.seq, atMs);
        first = dot;
      }
      last = dot;
    }
    if (first !== undefined && last !== undefined) this.add(first.origin, first.seq, last.seq, atMs);
  }

  /** When it first happened to this operation, as far back as is kept. A person asks for one at a time: looking at each is cheap. */
  at({ origin, seq }: Dot): number | undefined {
    const times = this.#spans
      .filter((span) => span.origin === origin && span.from <= seq && seq <= span.to)
      .map(({ atMs }) => atMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

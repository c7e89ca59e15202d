import { clockSkewMsMax } from '@lockstep/shared';

/** The exchanges that are kept: as many as NTP keeps. */
const samplesMax = 8;

/** One exchange of a question and an answer that says the time, between this clock and another one. */
interface Sample {
  /** How far the other clock was ahead, if question and answer took equally long. */
  readonly aheadMs: number;
  readonly roundTripMs: number;
}

/** The verdict about another clock. */
export interface ClockSkew {
  /** How far it is ahead, in milliseconds. */
  readonly aheadMs: number;
  /** Its distance is above the limit, whatever share of the round trip the answer took. */
  readonly isWrong: boolean;
}

/**
 * Compares another member's clock with this one by the exchange with the shortest round trip, as NTP's clock filter does (RFC 5905,
 * section 10): the error of a sample is at most half of its round trip, so a slow or loaded link makes no clock seem wrong.
 */
export class ClockFilter {
  #samples: Sample[] = [];

  /** Notes an exchange: this clock when the answer came, the time in the answer, and the round trip. All in milliseconds. */
  note(exchange: { readonly wallMs: number; readonly saidMs: number; readonly roundTripMs: number }): void {
    const { wallMs, saidMs, roundTripMs } = exchange;
    const sample = { aheadMs: saidMs + roundTripMs / 2 - wallMs, roundTripMs };
    // Samples that contradict each other prove that one of the clocks was set in between.
    this.#samples = this.#samples.filter((earlier) => agree(earlier, sample)).slice(1 - samplesMax);
    this.#samples.push(sample);
  }

  /** The verdict; undefined before the first exchange. */
  skew(): ClockSkew | undefined {
    const [first, ...others] = this.#samples;
    if (first === undefined) return undefined;
    const best = others.reduce((least, sample) => (sample.roundTripMs <= least.roundTripMs ? sample : least), first);
    return { aheadMs: best.aheadMs, isWrong: Math.abs(best.aheadMs) - best.roundTripMs / 2 > clockSkewMsMax };
  }
}

/** The time by which two samples may differ beyond their errors: clocks drift, and the wall clock may count whole milliseconds. */
const toleranceMs = 10;

function agree(a: Sample, b: Sample): boolean {
  return Math.abs(a.aheadMs - b.aheadMs) <= (a.roundTripMs + b.roundTripMs) / 2 + toleranceMs;
}

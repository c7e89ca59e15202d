import type { MemberId } from '@lockstep/shared';
import { RateMeter } from './rate-meter.ts';

/** The rate at which a content comes from one member. */
export interface ArrivalRate {
  readonly member: MemberId;
  /** Bytes per second over the last seconds; more than 0. */
  readonly bytesPerSecond: number;
}

/** The verified bytes of one content, by where they came from. Times are those of a monotonic clock. */
export class Arrivals {
  readonly #all = new RateMeter();
  readonly #from = new Map<MemberId, RateMeter>();
  #resumed = 0;
  #reused = 0;

  /** Bytes that are here. */
  get done(): number {
    return this.#all.total + this.#resumed + this.#reused;
  }

  /** Of those the ones that this machine had in another content, or that are zeros. */
  get reused(): number {
    return this.#reused;
  }

  /** The time when a member last sent some. */
  get lastMs(): number | undefined {
    return this.#all.lastMs;
  }

  /** They came from a member. */
  came(bytes: number, member: MemberId, nowMs: number): void {
    this.#all.add(bytes, nowMs);
    const meter = this.#from.get(member) ?? new RateMeter();
    meter.add(bytes, nowMs);
    this.#from.set(member, meter);
  }

  /** They were on this machine. */
  reuse(bytes: number): void {
    this.#reused += bytes;
  }

  /** An earlier fetch of this content left them. */
  resume(bytes: number): void {
    this.#resumed += bytes;
  }

  /** The session with a member has ended: its rate says nothing of what is to come. */
  ended(member: MemberId): void {
    this.#from.delete(member);
  }

  /** True if some came, and the sessions with all members that sent it have ended. */
  get areEnded(): boolean {
    return this.#all.lastMs !== undefined && this.#from.size === 0;
  }

  /** See `RateMeter.pace`. 0 once no member that sent some has a session. */
  pace(nowMs: number, sinceMs: number): number {
    return this.areEnded ? 0 : this.#all.pace(nowMs, sinceMs);
  }

  /** The members that sent some in the last seconds, the fastest first. */
  rates(nowMs: number): readonly ArrivalRate[] {
    return [...this.#from]
      .map(([member, meter]) => ({ member, bytesPerSecond: meter.perSecond(nowMs) }))
      .filter(({ bytesPerSecond }) => bytesPerSecond > 0)
      .sort((a, b) => b.bytesPerSecond - a.bytesPerSecond);
  }
}

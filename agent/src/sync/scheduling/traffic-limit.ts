import type { MemberId } from '@lockstep/shared';
import { limitedMembers, type RateRule, type RateSpan, rateAt, rateSpans } from '../../core/traffic/rate-rules.ts';
import type { Clock } from '../ports/clock.ts';
import type { Facts } from './facts.ts';
import { RateLimit } from './rate-limit.ts';

/** The limits of one direction: one for all members together, and in addition one for each member that a rule names. */
export class TrafficLimit {
  readonly #clock: Clock;
  readonly #nameOf: (member: MemberId) => string | undefined;
  readonly #all: RateLimit;
  /** The limits of single members, made when they are first needed. */
  readonly #single = new Map<MemberId, { readonly name: string; readonly limit: RateLimit }>();
  #rules: readonly RateRule[] = [];
  #names: readonly string[] = [];
  /** The minute of the local day whose rates are in force. */
  #minute: number;

  /** `nameOf`: the name of a member, by which rules name it. */
  constructor(
    { clock, facts }: { readonly clock: Clock; readonly facts: Facts },
    nameOf: (member: MemberId) => string | undefined,
  ) {
    this.#clock = clock;
    this.#nameOf = nameOf;
    this.#all = new RateLimit(clock);
    this.#minute = clock.localMinute();
    facts.second.on(() => this.#refresh());
  }

  /** Puts other rules in force, also for what waits. */
  limit(rules: readonly RateRule[]): void {
    this.#rules = rules;
    this.#names = limitedMembers(rules);
    this.#apply();
  }

  /** Takes `bytes` to or from `member` if they may go now; otherwise returns false. */
  tryTake(bytes: number, member: MemberId): boolean {
    const single = this.#singleOf(member);
    if (single !== undefined && !single.tryTake(0)) return false;
    if (!this.#all.tryTake(bytes)) return false;
    single?.tryTake(bytes);
    return true;
  }

  /**
   * Resolves when `bytes` to or from `member` may go, and takes them. With 0 bytes it only waits for their turn. `isOver`: they will not go
   * any more, so that they delay nothing.
   */
  async take(bytes: number, member: MemberId, isOver?: () => boolean): Promise<void> {
    // In this order: a member with a low limit must not use up the rate of all while it waits for its own.
    await this.#singleOf(member)?.take(bytes, isOver);
    await this.#all.take(bytes, isOver);
  }

  /** The names of the members with rules of their own. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The rates of the next 24 hours, the present one first: of the member of this name alone, or of all together. */
  spans(name?: string): readonly [RateSpan, ...RateSpan[]] {
    return rateSpans(this.#rules, this.#clock.localMinute(), name);
  }

  /** The names of the members whose limits delay something now; undefined stands for the limit of all together. */
  delaying(): readonly (string | undefined)[] {
    const names = new Set([...this.#single.values()].flatMap(({ name, limit }) => (limit.isDelaying ? [name] : [])));
    return [...(this.#all.isDelaying ? [undefined] : []), ...names];
  }

  /**
   * Puts the rates of this minute in force. A timer for the next change would miss it in three cases: after a suspension of the machine,
   * after a change of its clock, and in the nights of summer time.
   */
  #refresh(): void {
    if (this.#rules.every(({ hours }) => hours === undefined)) return;
    if (this.#clock.localMinute() !== this.#minute) this.#apply();
  }

  #apply(): void {
    this.#minute = this.#clock.localMinute();
    for (const { name, limit } of this.#single.values()) limit.limit(rateAt(this.#rules, this.#minute, name));
    this.#all.limit(rateAt(this.#rules, this.#minute));
  }

  #singleOf(member: MemberId): RateLimit | undefined {
    // Most people name no member.
    if (this.#names.length === 0) return undefined;
    const known = this.#single.get(member);
    const name = this.#nameOf(member);
    if (known !== undefined && known.name === name) return known.limit;
    if (name === undefined || !this.#names.includes(name)) return undefined;
    // It has another name than before: what waits for the limit of the old one goes.
    known?.limit.limit(Number.POSITIVE_INFINITY);
    const limit = new RateLimit(this.#clock, rateAt(this.#rules, this.#minute, name));
    this.#single.set(member, { name, limit });
    return limit;
  }
}

import type { CatchUpProgress, MemberId, OriginId, PulledMessage, VersionVector } from '@lockstep/shared';
import { pullTimeoutMs } from '@lockstep/shared';
import { catchUpOrder } from '../../core/membership.ts';
import { countBeyond, joinVectors } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** A peer that claims to know operations but sent none of them is asked again after this time. */
const futileMs = 10_000;

interface Pull {
  readonly id: number;
  readonly source: Peer;
  /** The operations that the source claimed to know when it was asked. */
  readonly claimed: VersionVector;
  readonly startedMs: number;
  readonly startCount: number;
  total: number;
  /** Time of the last progress. */
  progressMs: number;
}

/**
 * Fetches the operations that this member lacks. A newcomer pulls all of them from the oldest active member; if that one fails or
 * stalls, it continues with the next oldest. Later, members push their own operations. Those of an unreachable origin are pulled
 * from a third member that knows them.
 */
export class CatchUp {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #waitsForUs: (peer: Peer) => boolean;
  readonly #subscribed = new Map<OriginId, Peer>();
  /** Peers whose last pull brought nothing new, with their claim at that time: they are not asked for the same until `untilMs`. */
  readonly #futile = new Map<Peer, { readonly claimed: VersionVector; readonly untilMs: number }>();
  /** Sources that were replaced because they stalled. */
  readonly #stalled = new Set<Peer>();
  /** The operations that members knew when they were first met: the first catch-up ends when this member knows them too. */
  #goal: VersionVector = {};
  readonly #met = new Set<MemberId>();
  #pull: Pull | undefined;
  #pullId = 0;
  /** The first catch-up is over: from here on members push their operations. */
  #level = false;

  /** `waitsForUs`: the peer waits for this member to confirm operations before it may send more. */
  constructor(context: Context, peers: Peers, waitsForUs: (peer: Peer) => boolean) {
    this.#context = context;
    this.#peers = peers;
    this.#waitsForUs = waitsForUs;
  }

  get running(): boolean {
    return this.#pull !== undefined;
  }

  progress(): CatchUpProgress | undefined {
    if (this.#pull === undefined) return undefined;
    const { source, total, startCount } = this.#pull;
    return { source: source.id, done: Math.max(0, Math.min(total, this.#count() - startCount)), total };
  }

  /**
   * Pulls all operations that the others knew when they were met, regardless of later ones. Resolves at once if no member knows
   * more.
   */
  async first(): Promise<void> {
    while (this.#startPull()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#level = true;
    for (const peer of this.#peers.ready()) this.#subscribe(peer);
  }

  readonly #waiting: (() => void)[] = [];

  /** A session began. */
  ready(peer: Peer): void {
    if (!this.#level) {
      // Once for each member: one that reconnects repeatedly has made more operations each time.
      if (!this.#met.has(peer.id)) this.#goal = joinVectors(this.#goal, peer.known);
      this.#met.add(peer.id);
      return;
    }
    this.#subscribe(peer);
    this.check();
  }

  closed(peer: Peer): void {
    for (const [origin, subscribed] of this.#subscribed) {
      if (subscribed === peer) this.#subscribed.delete(origin);
    }
    this.#futile.delete(peer);
    this.#stalled.delete(peer);
    if (this.#pull?.source === peer) {
      this.#pull = undefined;
      this.#wake();
    }
    this.check();
  }

  /** Operations of the peer arrived. */
  progressed(peer: Peer): void {
    this.#stalled.delete(peer);
    if (this.#pull?.source === peer) this.#pull.progressMs = this.#context.clock.monotonicMs();
  }

  pulled(peer: Peer, message: PulledMessage): void {
    this.progressed(peer);
    const pull = this.#pull;
    if (pull === undefined || pull.source !== peer || pull.id !== message.id) return;
    pull.total = message.total;
    if (!message.done) return;
    this.#pull = undefined;
    const operations = this.#count() - pull.startCount;
    const nowMs = this.#context.clock.monotonicMs();
    const ms = nowMs - pull.startedMs;
    if (operations === 0) this.#futile.set(peer, { claimed: pull.claimed, untilMs: nowMs + futileMs });
    else {
      const name = this.#peers.nameOf(peer.id);
      this.#context.events.add('resynced', { source: peer.id, operations, name, ms: Math.round(ms) });
    }
    this.#wake();
    this.check();
  }

  /** Pulls operations that others know and that are not pushed to this member. Replaces a source that has stalled. */
  check(): void {
    this.#giveUpStalled();
    if (this.#level) this.#startPull();
  }

  /** Replaces a stalled source. A source that was only slow loses nothing: its operations are still accepted. */
  #giveUpStalled(): void {
    const pull = this.#pull;
    if (pull === undefined) return;
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#waitsForUs(pull.source)) pull.progressMs = nowMs;
    if (nowMs - pull.progressMs < pullTimeoutMs) return;
    this.#stalled.add(pull.source);
    if (this.#candidates().length === 0) {
      // There is no other source, or all have stalled: each gets another chance.
      this.#stalled.clear();
      pull.progressMs = nowMs;
      return;
    }
    this.#context.log.warn({ peer: pull.source.id }, 'a source of operations has stalled; another one is asked');
    this.#pull = undefined;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #subscribe(peer: Peer): void {
    const { origin } = peer;
    if (origin === undefined) return;
    this.#subscribed.set(origin, peer);
    peer.link?.send({ type: 'subscribe', origin, after: this.#context.journal.log.known()[origin] ?? 0 });
  }

  /** The number up to which operations of this origin must be pulled. */
  #wanted(origin: OriginId): number {
    if (!this.#level) return this.#goal[origin] ?? 0;
    return this.#subscribed.has(origin) ? 0 : Number.MAX_SAFE_INTEGER;
  }

  /** Peers that know operations to pull, in the order in which they are asked. */
  #candidates(): readonly Peer[] {
    const own = this.#context.journal.log.known();
    const nowMs = this.#context.clock.monotonicMs();
    const knowsMore = (peer: Peer): boolean => {
      const futile = this.#futile.get(peer);
      const inVain = futile !== undefined && futile.untilMs > nowMs ? futile.claimed : {};
      return (Object.entries(peer.known) as [OriginId, number][]).some(
        ([origin, seq]) => Math.min(seq, this.#wanted(origin)) > Math.max(own[origin] ?? 0, inVain[origin] ?? 0),
      );
    };
    const able = this.#peers.ready().filter((peer) => !this.#stalled.has(peer) && knowsMore(peer));
    const order = catchUpOrder(
      able.map((peer) => ({ id: peer.id, state: peer.state, enabledAt: peer.enabledAt, connected: true, peer })),
    );
    return order.map(({ peer }) => peer);
  }

  /** Starts a pull if none runs and a peer knows operations to pull. Returns true if a pull runs. */
  #startPull(): boolean {
    if (this.#pull !== undefined) return true;
    const [source] = this.#candidates();
    if (source === undefined) return false;
    const own = this.#context.journal.log.known();
    // Origins that are pushed to this member are left out, including operations that the source learns before it answers.
    const known = { ...own };
    for (const origin of Object.keys(source.known) as OriginId[]) {
      if (this.#wanted(origin) <= (own[origin] ?? 0)) known[origin] = Number.MAX_SAFE_INTEGER;
    }
    const nowMs = this.#context.clock.monotonicMs();
    this.#pull = {
      id: ++this.#pullId,
      source,
      claimed: source.known,
      startedMs: nowMs,
      startCount: this.#count(),
      total: countBeyond(source.known, known),
      progressMs: nowMs,
    };
    source.link?.send({ type: 'pull', id: this.#pull.id, known });
    return true;
  }

  #count(): number {
    return Object.values(this.#context.journal.log.known()).reduce((sum, seq) => sum + seq, 0);
  }
}

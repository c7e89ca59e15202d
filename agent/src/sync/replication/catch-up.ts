import type { CatchUpProgress, MemberId, OriginId, PulledMessage, VersionVector } from '@lockstep/shared';
import { pullTimeoutMs } from '@lockstep/shared';
import { catchUpOrder } from '../../core/membership.ts';
import { countBeyond, joinVectors } from '../../core/version.ts';
import type { Peer, Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** Who brought nothing of what it claims to know is asked for it again after this time. */
const futileMs = 10_000;

interface Pull {
  readonly id: number;
  readonly source: Peer;
  /** What the source said that it knows, when it was asked. */
  readonly claimed: VersionVector;
  readonly startedMs: number;
  readonly startCount: number;
  total: number;
  /** When last some of it came. */
  progressMs: number;
}

/**
 * Gets the operations that this member lacks. A newcomer asks the oldest active member for all of them, and the next oldest
 * when that one fails or stalls, from where it stopped. Later, what members made is pushed by themselves; what cannot come that
 * way (its origin is unreachable from here) is pulled from a third member that knows it.
 */
export class CatchUp {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #waitsForUs: (peer: Peer) => boolean;
  readonly #subscribed = new Map<OriginId, Peer>();
  /** What a peer claimed to know when a pull from it brought nothing new: it is not asked again for the same until some time. */
  readonly #futile = new Map<Peer, { readonly claimed: VersionVector; readonly untilMs: number }>();
  /** Sources that were given up for others because nothing came any more. */
  readonly #stalled = new Set<Peer>();
  /** What the members knew when they were first met: the first catch-up is over when this member knows it too. */
  #goal: VersionVector = {};
  readonly #met = new Set<MemberId>();
  #pull: Pull | undefined;
  #pullId = 0;
  /** Operations are pushed to us from here on: the first catch-up is over. */
  #level = false;

  /** `waitsForUs`: the peer has sent as much as it may before this member has dealt with some of it. */
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
   * Brings this member level with what the others knew when they were met, however much they make meanwhile. Resolves at once when
   * nobody knows more.
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
      // Once for each: one that comes again and again has made more each time.
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

  /** Operations came. */
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

  /** Pulls what others know and nobody pushes to us; goes on with another source where one has stalled. */
  check(): void {
    this.#giveUpStalled();
    if (this.#level) this.#startPull();
  }

  /** Nothing is lost by it if the source was slow after all: what it still sends is as welcome as before. */
  #giveUpStalled(): void {
    const pull = this.#pull;
    if (pull === undefined) return;
    const nowMs = this.#context.clock.monotonicMs();
    if (this.#waitsForUs(pull.source)) pull.progressMs = nowMs;
    if (nowMs - pull.progressMs < pullTimeoutMs) return;
    this.#stalled.add(pull.source);
    if (this.#candidates().length === 0) {
      // There is nobody else, or all have stalled by now: each gets another chance.
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
    peer.link?.send({ type: 'subscribe', origin, after: this.#context.journal.known()[origin] ?? 0 });
  }

  /** Up to which number operations of this origin are to be pulled. */
  #wanted(origin: OriginId): number {
    if (!this.#level) return this.#goal[origin] ?? 0;
    return this.#subscribed.has(origin) ? 0 : Number.MAX_SAFE_INTEGER;
  }

  /** Who knows something that is wanted, the one to be asked first. */
  #candidates(): readonly Peer[] {
    const own = this.#context.journal.known();
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

  /** Starts a pull, unless one runs or nobody knows more that is wanted. True when one runs. */
  #startPull(): boolean {
    if (this.#pull !== undefined) return true;
    const [source] = this.#candidates();
    if (source === undefined) return false;
    const own = this.#context.journal.known();
    // Origins that are pushed to us are left out, whatever more of them the source knows by the time it answers.
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
    return Object.values(this.#context.journal.known()).reduce((sum, seq) => sum + seq, 0);
  }
}

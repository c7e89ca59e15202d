import type { CatchUpProgress, MemberId, MemberState, OriginId, PulledMessage } from '@lockstep/shared';
import { catchUpOrder } from '../core/membership.ts';
import { countBeyond } from '../core/version.ts';
import type { Context } from './context.ts';
import type { Peer, Peers } from './peers.ts';

interface Pull {
  readonly id: number;
  readonly source: Peer;
  readonly startedMs: number;
  readonly startCount: number;
  total: number;
}

/** What happened to a pull, for people. */
export interface CaughtUp {
  readonly source: MemberId;
  readonly operations: number;
  readonly ms: number;
}

/**
 * Gets the operations that this member lacks. A newcomer asks the oldest active member for all of them, and the next oldest
 * when that one fails, from where it stopped. Later, what members made is pushed by themselves; what cannot come that
 * way (its origin is unreachable from here) is pulled from a third member that knows it.
 */
export class CatchUp {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #caughtUp: (caughtUp: CaughtUp) => void;
  readonly #subscribed = new Map<OriginId, Peer>();
  /** What a peer claimed to know when a pull from it brought nothing new: it is not asked again for the same. */
  readonly #futile = new Map<Peer, Peer['known']>();
  #pull: Pull | undefined;
  #pullId = 0;
  /** Operations are pushed to us from here on: the first catch-up is over. */
  #level = false;

  constructor(context: Context, peers: Peers, caughtUp: (caughtUp: CaughtUp) => void) {
    this.#context = context;
    this.#peers = peers;
    this.#caughtUp = caughtUp;
  }

  get running(): boolean {
    return this.#pull !== undefined;
  }

  progress(): CatchUpProgress | undefined {
    if (this.#pull === undefined) return undefined;
    const { source, total, startCount } = this.#pull;
    return { source: source.id, done: Math.min(total, this.#count() - startCount), total };
  }

  /** Brings this member level with those that are connected now. Resolves at once when nobody knows more. */
  async first(state: (state: MemberState) => void): Promise<void> {
    state('syncing');
    while (this.#startPull(() => true)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#level = true;
    for (const peer of this.#peers.ready()) this.#subscribe(peer);
  }

  readonly #waiting: (() => void)[] = [];

  /** A session began. */
  ready(peer: Peer): void {
    if (!this.#level) return;
    this.#subscribe(peer);
    this.check();
  }

  closed(peer: Peer): void {
    for (const [origin, subscribed] of this.#subscribed) {
      if (subscribed === peer) this.#subscribed.delete(origin);
    }
    if (this.#pull?.source === peer) {
      this.#pull = undefined;
      this.#wake();
    }
    this.check();
  }

  pulled(peer: Peer, message: PulledMessage): void {
    const pull = this.#pull;
    if (pull === undefined || pull.source !== peer || pull.id !== message.id) return;
    pull.total = message.total;
    if (!message.done) return;
    this.#pull = undefined;
    const operations = this.#count() - pull.startCount;
    const ms = this.#context.clock.monotonicMs() - pull.startedMs;
    if (operations === 0) this.#futile.set(peer, peer.known);
    else this.#caughtUp({ source: peer.id, operations, ms });
    this.#wake();
    this.check();
  }

  /** Pulls what others know and nobody pushes to us. */
  check(): void {
    if (this.#level) this.#startPull((origin) => !this.#subscribed.has(origin));
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

  /** Starts a pull of the origins that `wanted` says yes to, unless one runs or nobody knows more. True when one runs. */
  #startPull(wanted: (origin: OriginId) => boolean): boolean {
    if (this.#pull !== undefined) return true;
    const own = this.#context.journal.known();
    const knowsMore = (peer: Peer): boolean =>
      Object.entries(peer.known).some(
        ([origin, seq]) => wanted(origin as OriginId) && seq > (own[origin as OriginId] ?? 0),
      );
    const candidates = this.#peers.ready().filter((peer) => knowsMore(peer) && this.#futile.get(peer) !== peer.known);
    const [source] = catchUpOrder(
      candidates.map((peer) => ({ id: peer.id, state: peer.state, enabledAt: peer.enabledAt, connected: true, peer })),
    );
    if (source === undefined) return false;
    const { peer } = source;
    // Origins that are pushed to us are left out, whatever more of them the source knows by the time it answers.
    const known = { ...own };
    for (const origin of Object.keys(peer.known) as OriginId[]) {
      if (!wanted(origin)) known[origin] = Number.MAX_SAFE_INTEGER;
    }
    this.#pull = {
      id: ++this.#pullId,
      source: peer,
      startedMs: this.#context.clock.monotonicMs(),
      startCount: this.#count(),
      total: countBeyond(peer.known, known),
    };
    peer.link?.send({ type: 'pull', id: this.#pull.id, known });
    return true;
  }

  #count(): number {
    return Object.values(this.#context.journal.known()).reduce((sum, seq) => sum + seq, 0);
  }
}

import type { ContentId, HaveMessage, MemberId, MissingMessage, Operation } from '@lockstep/shared';
import { blockTimeoutMs, inlineBytesMax } from '@lockstep/shared';
import { blockRange } from '../../core/blocks.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import type { Context } from '../state/context.ts';
import { Announcements } from './announcements.ts';
import { type BlockRequest, BlockRequests } from './block-requests.ts';
import type { Share } from './block-todo.ts';
import { type Fetch, type FetchOutcome, fetchSize } from './fetch.ts';
import { FetchSources } from './fetch-sources.ts';
import { Offers } from './offers.ts';
import { PieceRequests } from './piece-requests.ts';
import { SourceRates } from './source-rates.ts';

/** The interval at which stalled sources are detected and staged blocks are announced while large contents are fetched. */
const watchIntervalMs = 200;
/** The time for which a block that was not requested is reported. */
const unaskedProblemMs = 600_000;

/** The connections of the exchange to the fetches. */
export interface ExchangeParts {
  readonly fetches: ReadonlyMap<ContentId, Fetch>;
  /** Stages a block that came. Never rejects. */
  stage(request: BlockRequest<Fetch>, bytes: Uint8Array): Promise<void>;
  finish(fetch: Fetch, outcome: FetchOutcome): void;
}

/** Requests the blocks of all fetches: a small content from one member, a large one from all that have blocks of it. */
export class BlockExchange {
  /** The requests for parts of blocks. */
  readonly pieces: PieceRequests;
  /** The session with the last member that content came from has ended, and no block has come since. */
  isCutOff = false;
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #parts: ExchangeParts;
  readonly #requests = new BlockRequests<Fetch>();
  readonly #rates = new SourceRates();
  readonly #offers = new Offers();
  readonly #sources: FetchSources;
  readonly #announcements: Announcements;
  readonly #watchTimer: WakeTimer;
  /** The start of the present interval; undefined while no large content is fetched. */
  #watchedMs: number | undefined;
  #turn = 0;
  /** The members from which the limit allows no further block now. */
  readonly #limited = new Set<MemberId>();
  #stopped = false;

  constructor(context: Context, peers: Peers, parts: ExchangeParts) {
    this.#context = context;
    this.#peers = peers;
    this.#parts = parts;
    this.#sources = new FetchSources(context, peers, {
      offers: this.#offers,
      requests: this.#requests,
      rates: this.#rates,
    });
    this.#announcements = new Announcements(peers);
    this.pieces = new PieceRequests(context.clock);
    this.#watchTimer = new WakeTimer(context.clock, () => this.#watch());
    context.facts.staged.on(() => {
      this.isCutOff = false;
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#watchTimer.stop();
  }

  /** The limit for receiving keeps the next block of the content back. */
  isLimited(fetch: Fetch): boolean {
    if (fetch.size <= inlineBytesMax || this.#limited.size === 0) return false;
    const sources =
      fetchSize(fetch.size) === 'large' ? this.#sources.of(fetch).map(({ peer }) => peer) : [fetch.source];
    return sources.every((peer) => peer !== undefined && this.#limited.has(peer.id));
  }

  /** The fetches with a requested block, and the bytes that came in the sessions with the asked members. */
  asked(): ReadonlyMap<Fetch, number> {
    const asked = new Map<Fetch, Set<Peer>>();
    for (const { fetch, peer } of this.#requests.all()) asked.set(fetch, (asked.get(fetch) ?? new Set()).add(peer));
    const received = (peers: Iterable<Peer>): number =>
      [...peers].reduce((sum, { link }) => sum + (link?.receivedBytes() ?? 0), 0);
    return new Map([...asked].map(([fetch, peers]) => [fetch, received(peers)]));
  }

  /** Bytes per second of the blocks of the content that come now; 0 while no part of one has come. Members answer in the order of requests. */
  arrivingPerSecond(fetch: Fetch): number {
    let perSecond = 0;
    for (const { request, aheadBytes } of this.#requests.pending(fetch)) {
      const isNext = aheadBytes === blockRange(fetch.size, request.index).length;
      if (!isNext || (request.peer.link?.partialBlockBytes() ?? 0) === 0) continue;
      perSecond += 1_000 * (this.#rates.bytesPerMs(request.peer) ?? 0);
    }
    return perSecond;
  }

  /** A member from which a block of the content is requested, preferably one that reports that it sends. */
  askedOf(fetch: Fetch): Peer | undefined {
    const peers = this.#requests.pending(fetch).map(({ request }) => request.peer);
    return peers.find(({ isSending }) => isSending) ?? peers[0];
  }

  /** The part of the content that this member fetches first. */
  shareOf(operation: Operation): Share {
    return this.#sources.shareOf(operation);
  }

  /** A member that has all of the content, and has not sent wrong bytes. */
  holderFor(fetch: Fetch): Peer | undefined {
    return this.#sources.choose(fetch);
  }

  /** A turn after all others. */
  nextTurn(): number {
    return ++this.#turn;
  }

  /**
   * Continues with another operation that has the content, if its file was renamed: members that know the rename no longer have the content
   * under the old operation.
   */
  follow(fetch: Fetch): void {
    if (fetch.waiting.length < 2 || this.#context.journal.heads.has(fetch.operation)) return;
    const operation = fetch.waiting.map((one) => one.operation).find((one) => this.#context.journal.heads.has(one));
    if (operation === undefined) return;
    fetch.operation = operation;
    fetch.sources = undefined;
    fetch.tried.clear();
    this.#announcements.renamed(fetch.content, operation);
  }

  /** Announces the remaining blocks of a content that is not fetched any more. */
  ended(fetch: Fetch): void {
    this.#announcements.end(fetch.content);
    this.withdraw(fetch);
  }

  /** Says to all members that were asked that no more of the content is needed. */
  withdraw(fetch: Fetch): void {
    this.#sendWithdrawn(this.#requests.withdraw(fetch));
    this.pieces.withdraw(fetch.content);
  }

  #sendWithdrawn(requests: readonly BlockRequest<Fetch>[]): void {
    for (const { link } of new Set(requests.map(({ peer }) => peer))) {
      const ids = requests.flatMap(({ id, peer }) => (peer.link === link ? id : []));
      link?.send({ type: 'withdraw', ids });
    }
  }

  /** Handles a block that was requested. */
  block(peer: Peer, id: number, bytes: Uint8Array): void {
    peer.received.add(bytes.length, this.#context.clock.monotonicMs());
    if (this.pieces.answer(peer, id, bytes)) return;
    const request = this.#take(peer, id, true);
    if (request === undefined) return;
    const { fetch, index } = request;
    if (fetch.todo.isHere(index)) {
      // Another source was faster.
      this.#requests.release(request);
      this.pump();
      return;
    }
    if (!fetch.tried.has(peer.id)) fetch.source = peer;
    fetch.todo.skip([index]);
    this.#sendWithdrawn(this.#requests.withdraw(fetch, index));
    void this.#parts.stage(request, bytes).finally(() => {
      // Not earlier: a block occupies memory until it is staged, and a disk can be slower than the network.
      this.#requests.release(request);
      this.pump();
    });
  }

  /** Handles a peer's answer that it cannot send the block. */
  missing(peer: Peer, { id, lacks, shows, named }: MissingMessage): void {
    if (this.pieces.answer(peer, id, undefined)) return;
    const request = this.#take(peer, id, false);
    if (request === undefined) return;
    const { fetch, index, isOffered, isWithdrawn } = request;
    this.#requests.release(request);
    if (isWithdrawn) {
      // It may be needed again meanwhile.
      this.#putBack(fetch, index);
      this.pump();
      return;
    }
    if (isOffered) this.#offers.forget(peer, fetch.content);
    else if (!fetch.tried.has(peer.id)) {
      // A member that has not yet compared its whole folder with its journal may have the content without knowing it.
      if (lacks && peer.holdings?.mayHave(fetch.content)) this.#context.facts.misled.publish();
      if (lacks && peer.state === 'active') fetch.lacking.push({ member: peer.id, shows, named });
      this.#askNoMore(fetch, peer);
      // It may have other blocks: those that it was asked for count if they come first.
      for (const open of this.#requests.pending(fetch)) if (open.request.peer === peer) this.#askAnother(open.request);
    }
    fetch.sources = undefined;
    this.#putBack(fetch, index);
    this.pump();
  }

  /** Handles a peer's announcement of the blocks that it has of a content that it fetches. */
  have(peer: Peer, message: HaveMessage): void {
    const fetch = this.#parts.fetches.get(message.content);
    const isHere = (index: number): boolean => fetch?.todo.isHere(index) === true;
    this.#offers.note(peer, message, this.#context.clock.monotonicMs(), isHere);
    if (fetch === undefined) return;
    fetch.sources = undefined;
    this.pump();
  }

  /** Handles the end of a session: its open requests go to other peers. */
  closed(peer: Peer): void {
    this.pieces.closed(peer);
    this.#offers.closed(peer);
    this.#rates.ended(peer, this.#context.clock.monotonicMs());
    const fetches = [...this.#parts.fetches.values()];
    const comesFrom = ({ source }: Fetch): boolean => source === peer;
    this.isCutOff ||=
      fetches.some(comesFrom) && fetches.every((fetch) => fetch.source === undefined || comesFrom(fetch));
    for (const { fetch, index } of this.#requests.closed(peer)) this.#putBack(fetch, index);
    for (const fetch of this.#parts.fetches.values()) {
      fetch.sources = undefined;
      fetch.arrivals.ended(peer.id);
      if (fetch.source !== peer) continue;
      if (fetchSize(fetch.size) === 'small') this.abandon(fetch, peer);
      else fetch.source = undefined;
    }
    this.pump();
  }

  /** Gives up sources that do not answer. A source with no outstanding request cannot stall. Must be called regularly. */
  tick(): void {
    this.pieces.tick();
    const nowMs = this.#context.clock.monotonicMs();
    this.#requests.extend(({ isSending }) => isSending, nowMs);
    for (const { fetch, peer, dueSinceMs } of this.#requests.all()) {
      if (nowMs - dueSinceMs > blockTimeoutMs || this.#isReplaced(fetch, peer)) this.abandon(fetch, peer);
    }
    this.pump();
  }

  /** True for the only asked source if it has been silent for seconds and another member has the content. */
  #isReplaced(fetch: Fetch, peer: Peer): boolean {
    if (peer.state !== 'suspect' || fetchSize(fetch.size) !== 'small') return false;
    // The list may be older than the silence.
    fetch.sources = undefined;
    return this.#sources.of(fetch).some(({ peer: other, hasAll }) => hasAll && other.state === 'active');
  }

  /** While large contents are fetched: replaces sources that stall, and announces staged blocks. */
  #watch(): void {
    const nowMs = this.#context.clock.monotonicMs();
    // A busy thread has read no message: that is no stall of the sources.
    const lateMs = nowMs - (this.#watchedMs ?? nowMs) - watchIntervalMs;
    this.#watchedMs = undefined;
    this.#rates.tick(nowMs, lateMs > watchIntervalMs ? lateMs : 0);
    for (const fetch of this.#parts.fetches.values()) {
      fetch.sources = undefined;
      if (fetchSize(fetch.size) !== 'large') continue;
      // The new name may be known before the end of the old one.
      this.follow(fetch);
      this.#passOver(fetch, nowMs);
    }
    this.#announcements.flush();
    this.pump();
  }

  /** Makes the blocks that stalled sources owe available to other members that have them. The first answer counts. */
  #passOver(fetch: Fetch, nowMs: number): void {
    const able = this.#sources.of(fetch).filter(({ peer }) => !this.#rates.isStalled(peer, nowMs));
    for (const { request } of this.#requests.pending(fetch)) {
      const { peer, index } = request;
      if (!this.#rates.isStalled(peer, nowMs)) continue;
      if (able.some(({ hasAll, offer }) => hasAll || offer?.has(index))) this.#askAnother(request);
    }
  }

  /** Lets the block be requested from another source, too. */
  #askAnother(request: BlockRequest<Fetch>): void {
    request.isVoid = true;
    this.#putBack(request.fetch, request.index);
  }

  /** Lets a block be requested again, unless it came, or another peer was asked for it as well. */
  #putBack(fetch: Fetch, index: number): void {
    const { content, todo } = fetch;
    if (this.#parts.fetches.get(content) !== fetch || todo.isHere(index) || todo.isOpen(index)) return;
    if (!this.#requests.isPending(fetch, index)) todo.again(index);
  }

  #take(peer: Peer, id: number, isBlock: boolean): BlockRequest<Fetch> | undefined {
    const nowMs = this.#context.clock.monotonicMs();
    const request = this.#requests.take(peer, id, nowMs);
    if (request === 'unasked') {
      if (isBlock) this.#reportUnasked(peer);
      return undefined;
    }
    this.#rates.came(peer, nowMs, !this.#requests.awaits(peer));
    if (request === 'given-up') return undefined;
    if (this.#parts.fetches.get(request.fetch.content) === request.fetch) return request;
    this.#requests.release(request);
    this.pump();
    return undefined;
  }

  #reportUnasked(peer: Peer): void {
    const name = this.#peers.nameOf(peer.id);
    const detail = `${name} sent a block that was not requested; it was dropped. Check the version and the machine of ${name}.`;
    this.#context.problems.set('content-corrupt', { member: name }, detail, unaskedProblemMs);
  }

  /** Announces these blocks to the members that lack the content. */
  announce({ content, operation, size }: Fetch, indices: readonly number[]): void {
    if (fetchSize(size) === 'large' && indices.length > 0) this.#announcements.add(content, operation, indices);
  }

  /** Asks the peer for no more of the content, and uses no block of it that is still to come. */
  abandon(fetch: Fetch, peer: Peer): void {
    this.#askNoMore(fetch, peer);
    const givenUp = this.#requests.giveUp(fetch, peer);
    this.#sendWithdrawn(givenUp);
    for (const { index } of givenUp) this.#putBack(fetch, index);
    if (!this.#requests.awaits(peer)) this.#rates.ended(peer, this.#context.clock.monotonicMs());
  }

  #askNoMore(fetch: Fetch, peer: Peer): void {
    fetch.tried.add(peer.id);
    fetch.sources = undefined;
    this.#offers.refuse(peer, fetch.content);
    if (fetch.source === peer) fetch.source = undefined;
  }

  /** Requests all blocks that may be requested now, and ends fetches for which no source is left. */
  pump(): void {
    if (this.#stopped) return;
    for (const fetch of [...this.#parts.fetches.values()]) {
      // Blocks that are being written are waited for: the next attempt must not write them at the same time.
      if (fetch.staging > 0 || (fetch.failure === undefined && this.#sources.isLeft(fetch))) continue;
      this.#parts.finish(fetch, fetch.failure ?? 'missing');
    }
    const queue = [...this.#parts.fetches.values()].sort((a, b) => a.turn - b.turn);
    if (this.#watchedMs === undefined && queue.some(({ size }) => fetchSize(size) === 'large')) {
      this.#watchedMs = this.#context.clock.monotonicMs();
      this.#watchTimer.in(watchIntervalMs);
    }
    // The queue grows during the loop: it requests one block of each content in turn, so that neither a large content nor many small
    // ones delay the others.
    for (const fetch of queue) {
      if (fetch.failure !== undefined || fetch.isUnneeded || this.#isHeldBack(fetch)) continue;
      if (this.#askNext(fetch)) queue.push(fetch);
    }
  }

  /**
   * True for a prefetch while a reader waits for another content, or while one of its own blocks is in flight: a prefetch delays no reader.
   */
  #isHeldBack(fetch: Fetch): boolean {
    const { wanted } = this.#context;
    if (!fetch.waiting.every(({ operation }) => wanted.isPrefetched(operation.path))) return false;
    return wanted.waitingReaders > 0 || this.#requests.pending(fetch).length > 0;
  }

  /** Requests the next block of the content, if there is one and a source has fewer open requests than the limit. */
  #askNext(fetch: Fetch): boolean {
    if (fetch.isLooking) return false;
    const isLimited = fetch.size > inlineBytesMax;
    const request = this.#sources.next(fetch, (peer) => !isLimited || this.#mayReceive(peer));
    if (request === undefined) return false;
    const { peer, index } = request;
    fetch.todo.take(index);
    if (isLimited) this.#context.limits.receive.tryTake(blockRange(fetch.size, index).length, peer.id);
    const nowMs = this.#context.clock.monotonicMs();
    this.#rates.asked(peer, nowMs);
    const id = this.#requests.add({ fetch, ...request }, nowMs);
    fetch.turn = this.nextTurn();
    if (!fetch.asked.has(peer.id)) this.#context.facts.asked.publish();
    fetch.asked.add(peer.id);
    peer.link?.send({ type: 'want', id, content: fetch.content, index, path: fetch.operation.path });
    return true;
  }

  /** True if the limit allows another block from this member; if not, the next one is requested as soon as it does. */
  #mayReceive({ id }: Peer): boolean {
    const { limits, log } = this.#context;
    if (this.#limited.has(id)) return false;
    if (limits.receive.tryTake(0, id)) return true;
    this.#limited.add(id);
    limits.receive
      .take(0, id)
      .then(() => this.#limited.delete(id))
      // It runs after the others that wait for the same limit, so that the content whose turn it is gets the next block.
      .then(() => this.pump())
      .catch((error: unknown) => log.error({ error: String(error) }, 'requesting blocks failed'));
    return false;
  }
}

import type { ContentId, HaveMessage, MemberId, MissingMessage, Operation } from '@lockstep/shared';
import { blockBytes, blockTimeoutMs, dotKey, fetchesMax, inlineBytesMax, memberOf } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import { holds } from '../../core/durability.ts';
import { chooseSource } from '../../core/traffic/choose-source.ts';
import { RateMeter } from '../../core/traffic/rate-meter.ts';
import { nextRequest } from '../../core/traffic/share-blocks.ts';
import { countBeyond } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import type { Context } from '../state/context.ts';
import { Announcements } from './announcements.ts';
import { type BlockRequest, BlockRequests } from './block-requests.ts';
import { BlockTodo, type Share } from './block-todo.ts';
import {
  doneBytes,
  type Fetch,
  type FetchOutcome,
  type FetchSize,
  type FetchSource,
  fetchSize,
  type TransferProgress,
} from './fetch.ts';
import { isWanted } from './local-content.ts';
import { copiesFor, resume, stageCopies } from './local-copies.ts';
import { Offers } from './offers.ts';
import { SourceRates } from './source-rates.ts';

/** While large contents are fetched, stalled sources are noticed, and staged blocks announced, in this interval. */
const watchIntervalMs = 200;
/** The time for which a block that was not requested is reported. */
const unaskedProblemMs = 600_000;

type NextRequest = Pick<BlockRequest<Fetch>, 'peer' | 'index' | 'isOffered'>;

/** Fetches contents block by block, from the operation's origin or another member that has it, verifies and stages them. */
export class ContentFetcher {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #fetches = new Map<ContentId, Fetch>();
  /** Operations whose content is being fetched. */
  readonly #fetching = new Set<string>();
  /** The staged contents, each with its size. */
  readonly #staged = new Map<ContentId, number>();
  /** The contents of which fetches that ended, also of an earlier agent, left verified blocks, with their bytes as far as they are known. */
  readonly #partial: Map<ContentId, number>;
  readonly #requests = new BlockRequests<Fetch>();
  readonly #rates = new SourceRates();
  readonly #offers = new Offers();
  readonly #announcements: Announcements;
  readonly #watchTimer: WakeTimer;
  #watchedMs = 0;
  #turn = 0;
  /** It waits until the limit lets another block come. */
  #isLimited = false;
  #stopped = false;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.#announcements = new Announcements(peers);
    this.#watchTimer = new WakeTimer(context.clock, () => this.#watch());
    this.#partial = new Map(context.folder.leftContents.map((content) => [content, 0]));
  }

  stop(): void {
    this.#stopped = true;
    this.#watchTimer.stop();
    for (const fetch of this.#fetches.values()) fetch.failure ??= 'lost';
    this.#fetches.clear();
  }

  isFetching(operation: Operation): boolean {
    return this.#fetching.has(keyOf(operation));
  }

  nameOf(member: MemberId): string {
    return this.#peers.nameOf(member);
  }

  /** Number of further fetches of this size class that may begin. */
  room(size: FetchSize): number {
    let open = 0;
    for (const fetch of this.#fetches.values()) if (fetchSize(fetch.size) === size) open++;
    return fetchesMax - open;
  }

  isStaged(content: ContentId): boolean {
    return this.#staged.has(content);
  }

  progress(): readonly TransferProgress[] {
    const nowMs = this.#context.clock.monotonicMs();
    const asked = new Set(this.#requests.all().map(({ fetch }) => fetch));
    return [...this.#fetches.values()].map((fetch) => ({
      path: fetch.operation.path,
      source: fetch.source?.id,
      size: fetch.size,
      doneBytes: doneBytes(fetch),
      bytesPerSecond: fetch.meter.pace(nowMs, fetch.startedMs),
      startedMs: fetch.startedMs,
      progressMs: fetch.meter.lastMs,
      isAsked: asked.has(fetch),
      isLimited: this.#isLimited && fetch.size > inlineBytesMax,
      isFull: fetch.failure === 'disk-full',
    }));
  }

  /** Bytes of the missing contents that are staged, in whole or in part. */
  stagedBytes(): number {
    const { journal } = this.#context;
    let bytes = 0;
    for (const [content, size] of [...this.#staged, ...this.#partial]) if (isWanted(journal, content)) bytes += size;
    for (const fetch of this.#fetches.values()) {
      const done = doneBytes(fetch);
      if (done > 0 && isWanted(journal, fetch.content)) bytes += done;
    }
    return bytes;
  }

  /** True while a connected member knows operations that this one does not know yet. */
  mayLearnMore(): boolean {
    const known = this.#context.journal.known();
    return this.#peers.ready().some((peer) => countBeyond(peer.known, known) > 0);
  }

  /** Notes that the staged file was moved into place. */
  applied(content: ContentId): void {
    this.#staged.delete(content);
  }

  /** Deletes a staged content that was copied, or turned out to be unusable. */
  drop(content: ContentId): void {
    if (this.#staged.delete(content)) this.#unstage(content);
  }

  /** Deletes staged contents, and ends fetches, of versions that have been superseded. */
  dropUnneeded(isNeeded: (content: ContentId) => boolean): void {
    for (const content of this.#staged.keys()) if (!isNeeded(content)) this.drop(content);
    for (const content of this.#partial.keys()) {
      if (!isNeeded(content) && this.#partial.delete(content)) this.#unstage(content);
    }
    for (const fetch of [...this.#fetches.values()]) {
      fetch.isUnneeded = !isNeeded(fetch.content);
      // Blocks that are being written are waited for.
      if (fetch.staging === 0 && fetch.isUnneeded) this.#finish(fetch, 'unneeded');
    }
  }

  /**
   * Fetches the content of `operation`; `done` is called once. Returns false, without a call, if it is already being fetched or
   * `fetchesMax` others of its size class are: ask again when one of them is done.
   */
  fetch(operation: Operation, done: (outcome: FetchOutcome) => void): boolean {
    const { content, size } = operation;
    if (content === undefined || size === undefined || this.#stopped || this.isFetching(operation)) return false;
    const open = this.#fetches.get(content);
    if (open !== undefined) {
      open.waiting.push({ operation, done });
      this.#fetching.add(keyOf(operation));
      return true;
    }
    if (this.room(fetchSize(size)) <= 0) return false;
    const fetch: Fetch = {
      operation,
      content,
      size,
      waiting: [{ operation, done }],
      tried: new Set(),
      lacking: [],
      source: undefined,
      sources: undefined,
      todo: new BlockTodo(blockCount(size), fetchSize(size) === 'large' ? this.#shareOf(operation) : undefined),
      staging: 0,
      staged: 0,
      meter: new RateMeter(),
      reusedBytes: 0,
      isUnneeded: false,
      isLooking: this.#partial.has(content),
      failure: undefined,
      turn: ++this.#turn,
      startedMs: this.#context.clock.monotonicMs(),
    };
    this.#partial.delete(content);
    this.#fetches.set(content, fetch);
    this.#fetching.add(keyOf(operation));
    void this.#begin(fetch);
    return true;
  }

  /** True if some of the content is staged, so that other members can have it from there. */
  hasStaged(content: ContentId): boolean {
    return this.#staged.has(content) || this.#partial.has(content) || (this.#fetches.get(content)?.staged ?? 0) > 0;
  }

  /** Handles a block that was requested. */
  block(peer: Peer, id: number, bytes: Uint8Array): void {
    peer.received.add(bytes.length, this.#context.clock.monotonicMs());
    const request = this.#take(peer, id, true);
    if (request === undefined) return;
    const { fetch, index } = request;
    if (fetch.todo.isHere(index)) {
      // Another source was faster.
      this.#requests.release(peer);
      this.#pump();
      return;
    }
    fetch.source = peer;
    fetch.todo.skip([index]);
    this.#requests.void(fetch, index);
    this.#stage(fetch, index, bytes, peer)
      .catch((error: unknown) => {
        this.#context.log.error({ path: fetch.operation.path, error: String(error) }, 'staging a block failed');
        fetch.failure = 'lost';
      })
      .finally(() => {
        // Not earlier: a block occupies memory until it is staged, and a disk can be slower than the network.
        this.#requests.release(peer);
        this.#pump();
      });
  }

  /** Handles a peer's answer that it cannot send the block. */
  missing(peer: Peer, { id, lacks, shows }: MissingMessage): void {
    const request = this.#take(peer, id, false);
    if (request === undefined) return;
    const { fetch, index, isOffered } = request;
    this.#requests.release(peer);
    if (isOffered) this.#offers.refuse(peer, fetch.content);
    else {
      // A member that has not yet compared its whole folder with its journal may have the content without knowing.
      if (lacks && peer.state === 'active') fetch.lacking.push({ member: peer.id, shows });
      this.#abandonSource(fetch, peer);
    }
    fetch.sources = undefined;
    this.#putBack(fetch, index);
    this.#pump();
  }

  /** Handles what a peer says it has of a content that it fetches. */
  have(peer: Peer, message: HaveMessage): void {
    this.#offers.note(peer, message);
    const fetch = this.#fetches.get(message.content);
    if (fetch === undefined) return;
    fetch.sources = undefined;
    this.#pump();
  }

  /** Handles the end of a session: its open requests go to other peers. */
  closed(peer: Peer): void {
    this.#offers.closed(peer);
    this.#rates.ended(peer, this.#context.clock.monotonicMs());
    for (const { fetch, index } of this.#requests.closed(peer)) this.#putBack(fetch, index);
    for (const fetch of this.#fetches.values()) {
      fetch.sources = undefined;
      if (fetch.source !== peer) continue;
      if (fetchSize(fetch.size) === 'small') this.#abandonSource(fetch, peer);
      else fetch.source = undefined;
    }
    this.#pump();
  }

  /** Gives up sources that do not answer. A source with no outstanding request cannot stall. Must be called regularly. */
  tick(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const { fetch, peer, dueSinceMs } of this.#requests.all()) {
      if (nowMs - dueSinceMs > blockTimeoutMs) this.#abandonSource(fetch, peer);
    }
    this.#pump();
  }

  /** While large contents are fetched: replaces sources that stall, and says what is here. */
  #watch(): void {
    const nowMs = this.#context.clock.monotonicMs();
    // A thread that was busy has read nothing: that is no stall of the sources.
    const lateMs = nowMs - this.#watchedMs - watchIntervalMs;
    this.#rates.tick(nowMs, lateMs > watchIntervalMs ? lateMs : 0);
    this.#watchedMs = nowMs;
    for (const fetch of this.#fetches.values()) {
      fetch.sources = undefined;
      if (fetchSize(fetch.size) === 'large') this.#passOver(fetch, nowMs);
    }
    this.#announcements.flush();
    this.#pump();
  }

  /** Makes the blocks that stalled sources owe available to others that have them. Whichever answers first counts. */
  #passOver(fetch: Fetch, nowMs: number): void {
    const able = this.#sourcesOf(fetch).filter(({ peer }) => !this.#rates.isStalled(peer, nowMs));
    for (const { request } of this.#requests.pending(fetch)) {
      const { peer, index } = request;
      if (!this.#rates.isStalled(peer, nowMs)) continue;
      if (!able.some(({ hasAll, offer }) => hasAll || offer?.has(index))) continue;
      request.isVoid = true;
      this.#putBack(fetch, index);
    }
  }

  /** Lets a block be requested again, unless it came, or another peer was asked for it as well. */
  #putBack({ todo, ...rest }: Fetch, index: number): void {
    const fetch = this.#fetches.get(rest.content);
    if (fetch?.todo !== todo || todo.isHere(index) || todo.isOpen(index)) return;
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
    if (this.#fetches.get(request.fetch.content) === request.fetch) return request;
    this.#requests.release(peer);
    return undefined;
  }

  #reportUnasked(peer: Peer): void {
    const name = this.#peers.nameOf(peer.id);
    const detail = `${name} sent a block that was not requested; it was dropped. Check the version and the machine of ${name}.`;
    this.#context.problems.set('content-corrupt', { member: name }, detail, unaskedProblemMs);
  }

  async #stage(fetch: Fetch, index: number, bytes: Uint8Array, peer: Peer): Promise<void> {
    const { content, size, operation } = fetch;
    // The folder takes the bytes over.
    const { length } = bytes;
    fetch.staging++;
    const staged = this.#context.folder.stageBlock({ content, blocks: operation.blocks, size, index, bytes });
    const outcome = await staged.finally(() => fetch.staging--);
    if (outcome === 'disk-full' || outcome === 'lost') fetch.failure = outcome;
    else if (outcome === 'corrupt') {
      const name = this.#peers.nameOf(peer.id);
      const detail = `${name} sent bytes of ${operation.path} that do not match its content id. Check the disk of ${name}.`;
      this.#context.problems.set('content-corrupt', { path: operation.path, member: name }, detail);
      fetch.todo.again(index);
      this.#abandonSource(fetch, peer);
    } else {
      fetch.staged++;
      this.#announce(fetch, [index]);
      fetch.meter.add(length, this.#context.clock.monotonicMs());
      if (fetch.staged === blockCount(size)) this.#finish(fetch, 'ok');
    }
  }

  /** Finds the blocks that an earlier fetch left, and stages those that are here already, while others are fetched. */
  async #begin(fetch: Fetch): Promise<void> {
    const { operation, size } = fetch;
    fetch.staging++;
    try {
      const left = fetch.isLooking ? await resume(this.#context, fetch) : new Set<number>();
      fetch.isLooking = false;
      this.#announce(fetch, [...left]);
      const copies = copiesFor(this.#context, operation).filter(({ index }) => !left.has(index));
      fetch.todo.skip(copies.map(({ index }) => index));
      this.#pump();
      await stageCopies(this.#context, fetch, copies, () => this.#pump());
    } catch (error) {
      this.#context.log.error({ path: operation.path, error: String(error) }, 'staging blocks of this folder failed');
      fetch.failure = 'lost';
    }
    fetch.staging--;
    if (fetch.staged === blockCount(size)) this.#finish(fetch, 'ok');
    this.#pump();
  }

  #announce({ content, operation, size }: Fetch, indices: readonly number[]): void {
    if (fetchSize(size) === 'large' && indices.length > 0) this.#announcements.add(content, operation, indices);
  }

  #abandonSource(fetch: Fetch, peer: Peer): void {
    fetch.tried.add(peer.id);
    fetch.sources = undefined;
    this.#offers.refuse(peer, fetch.content);
    for (const { index } of this.#requests.withdraw(fetch, peer)) this.#putBack(fetch, index);
    if (!this.#requests.awaits(peer)) this.#rates.ended(peer, this.#context.clock.monotonicMs());
    if (fetch.source === peer) fetch.source = undefined;
  }

  #pump(): void {
    if (this.#stopped) return;
    for (const fetch of [...this.#fetches.values()]) {
      // Blocks that are being written are waited for: the next attempt must not write them at the same time.
      if (fetch.staging > 0 || (fetch.failure === undefined && this.#hasSource(fetch))) continue;
      this.#finish(fetch, fetch.failure ?? 'missing');
    }
    const queue = [...this.#fetches.values()].sort((a, b) => a.turn - b.turn);
    if (queue.some(({ size }) => fetchSize(size) === 'large')) this.#watchTimer.in(watchIntervalMs);
    // The queue grows during the loop: it requests one block of each content in turn, so that neither a large content nor many small
    // ones delay the others.
    for (const fetch of queue) if (fetch.failure === undefined && this.#askNext(fetch)) queue.push(fetch);
  }

  /** Requests the next block of the content, if there is one and a source has less than the limit of open requests. */
  #askNext(fetch: Fetch): boolean {
    if (fetch.isLooking) return false;
    const isLimited = fetch.size > inlineBytesMax;
    if (isLimited && !this.#mayReceive()) return false;
    const request = fetchSize(fetch.size) === 'large' ? this.#nextOfLarge(fetch) : this.#nextOfSmall(fetch);
    if (request === undefined) return false;
    const { peer, index } = request;
    fetch.todo.take(index);
    if (isLimited) this.#context.limits.receive.tryTake(blockRange(fetch.size, index).length);
    const nowMs = this.#context.clock.monotonicMs();
    this.#rates.asked(peer, nowMs);
    const id = this.#requests.add({ fetch, ...request }, nowMs);
    fetch.turn = ++this.#turn;
    peer.link?.send({ type: 'want', id, content: fetch.content, index, path: fetch.operation.path });
    return true;
  }

  #nextOfSmall(fetch: Fetch): NextRequest | undefined {
    fetch.source ??= this.#chooseSource(fetch);
    const { source } = fetch;
    if (source === undefined || !this.#requests.hasPlace(fetch, source)) return undefined;
    const index = fetch.todo.next();
    return index === undefined ? undefined : { peer: source, index, isOffered: false };
  }

  #nextOfLarge(fetch: Fetch): NextRequest | undefined {
    const { size, todo } = fetch;
    const nowMs = this.#context.clock.monotonicMs();
    const known = this.#sourcesOf(fetch);
    const isOffered = (index: number): boolean => known.some(({ hasAll, offer }) => !hasAll && offer?.has(index));
    const nextOf = ({ hasAll, offer }: FetchSource): number | undefined =>
      hasAll ? todo.next(isOffered) : offer && todo.nextOf(offer);
    const sources = known
      .map((source) => ({ ...source, next: nextOf(source) }))
      .map(({ peer, hasAll, offer, next }) => ({
        peer,
        hasAll,
        offer,
        next,
        isNextOffered: next !== undefined && isOffered(next),
        roundTripMs: peer.rttMs ?? 0,
        bytesPerMs: this.#rates.bytesPerMs(peer),
        requests: this.#requests.inFlight(peer),
        requestedBytes: this.#requests.requestedBytes(peer),
        isStalled: this.#rates.isStalled(peer, nowMs),
      }));
    const pending = this.#requests.pending(fetch).flatMap(({ request, aheadBytes }) => {
      const source = sources.find(({ peer }) => peer === request.peer);
      const partialBytes = Math.min(blockBytes, this.#rates.partialBytes(request.peer));
      return source === undefined ? [] : { index: request.index, source, aheadBytes: aheadBytes - partialBytes };
    });
    const missingBytes = (blockCount(size) - todo.hereCount) * blockBytes;
    const has = ({ hasAll, offer }: FetchSource, index: number): boolean => hasAll || offer?.has(index) === true;
    const request = nextRequest<(typeof sources)[number]>({ sources, pending, missingBytes, has });
    if (request === undefined) return undefined;
    const { source, index } = request;
    return { peer: source.peer, index, isOffered: source.offer?.has(index) === true };
  }

  /** Whether the limit lets another block come; if not, the next one is requested as soon as it does. */
  #mayReceive(): boolean {
    const { limits, log } = this.#context;
    if (this.#isLimited) return false;
    if (limits.receive.tryTake(0)) return true;
    this.#isLimited = true;
    limits.receive
      .take(0)
      .then(() => {
        this.#isLimited = false;
        this.#pump();
      })
      .catch((error: unknown) => log.error({ error: String(error) }, 'requesting blocks failed'));
    return false;
  }

  /** False if no member is left that may have more of the content. */
  #hasSource(fetch: Fetch): boolean {
    if (fetchSize(fetch.size) === 'small') {
      fetch.source ??= this.#chooseSource(fetch);
      return fetch.source !== undefined;
    }
    const mayHave = ({ hasAll, offer }: FetchSource): boolean =>
      hasAll || (offer !== undefined && fetch.todo.nextOf(offer) !== undefined);
    return this.#sourcesOf(fetch).some(mayHave) || this.#requests.pending(fetch).length > 0;
  }

  /** All members that have a large content, and those that fetch it as well. If none has it, one that may. */
  #sourcesOf(fetch: Fetch): readonly FetchSource[] {
    if (fetch.sources !== undefined) return fetch.sources;
    const { operation, tried, content } = fetch;
    const sources = this.#peers.ready().map((peer): FetchSource => {
      const isHolder = peer.id === memberOf(operation.origin) || holds(peer.applied, operation);
      return { peer, hasAll: isHolder && !tried.has(peer.id), offer: this.#offers.of(peer, content) };
    });
    const guess = sources.some(({ hasAll }) => hasAll) ? undefined : this.#chooseSource(fetch);
    fetch.sources = sources
      .map((source) => (source.peer === guess ? { ...source, hasAll: true } : source))
      .filter(({ hasAll, offer }) => hasAll || offer !== undefined);
    return fetch.sources;
  }

  /** The part of the content that this member fetches first: the others that lack it begin with other parts. */
  #shareOf(operation: Operation): Share {
    const { id } = this.#context.self;
    const lacking = this.#peers.ready().filter(({ applied, origin }) => {
      return origin !== operation.origin && !holds(applied, operation);
    });
    const members = [id, ...lacking.map((peer) => peer.id)].sort();
    return { place: members.indexOf(id), members: members.length };
  }

  /** The member to ask, of those that were not tried. */
  #chooseSource(fetch: Fetch): Peer | undefined {
    const nowMs = this.#context.clock.monotonicMs();
    const candidates = this.#peers
      .ready()
      .filter((peer) => !fetch.tried.has(peer.id))
      .map((peer) => ({
        peer,
        isOrigin: peer.id === memberOf(fetch.operation.origin),
        isHolder: holds(peer.applied, fetch.operation),
        roundTripMs: peer.rttMs ?? 0,
        requestedBytes: this.#requests.requestedBytes(peer),
        bytesPerSecond: peer.received.perSecond(nowMs),
      }));
    return chooseSource(candidates)?.peer;
  }

  #finish(fetch: Fetch, outcome: FetchOutcome): void {
    if (this.#fetches.get(fetch.content) !== fetch) return;
    this.#fetches.delete(fetch.content);
    for (const { operation } of fetch.waiting) this.#fetching.delete(keyOf(operation));
    if (outcome === 'ok') this.#staged.set(fetch.content, fetch.size);
    // A fetch that finds a source later goes on with these blocks.
    else if (outcome === 'missing' && fetch.staged > 0) this.#partial.set(fetch.content, doneBytes(fetch));
    else this.#unstage(fetch.content);
    this.#announcements.end(fetch.content);
    this.#note(fetch, outcome);
    for (const { done } of fetch.waiting) done(outcome);
    const paths = fetch.waiting.map(({ operation }) => operation.path);
    this.#context.facts.fetched.publish({ paths, areHere: outcome === 'ok' });
  }

  #note({ content, waiting, lacking }: Fetch, outcome: FetchOutcome): void {
    const { missing, clock } = this.#context;
    if (outcome === 'ok') missing.found(content);
    if (outcome !== 'missing') return;
    const members = this.#peers.all().flatMap(({ id, state }) => (state === 'left' ? [] : id));
    const nowMs = clock.monotonicMs();
    // The members were asked about the path of the first operation; their entries at other paths are not known.
    for (const [index, { operation }] of waiting.entries()) {
      // An old version that nobody has is no problem of the path.
      if (!this.#isHead(operation)) continue;
      const known = index === 0 ? lacking : lacking.map(({ member }) => ({ member, shows: true }));
      missing.searched(operation, { lacking: known, members, nowMs });
    }
  }

  #isHead(operation: Operation): boolean {
    const key = dotKey(operation);
    return this.#context.journal.heads(operation.path).some((head) => dotKey(head) === key);
  }

  #unstage(content: ContentId): void {
    this.#context.folder.unstage(content).catch((error: unknown) => {
      this.#context.log.warn({ error: String(error) }, 'a staged file could not be removed');
    });
  }
}

function keyOf(operation: Operation): string {
  return `${operation.content} ${operation.path}`;
}

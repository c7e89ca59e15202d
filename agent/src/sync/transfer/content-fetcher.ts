import type { ContentId, MemberId, MissingMessage, Operation } from '@lockstep/shared';
import { blockTimeoutMs, dotKey, fetchesMax, inlineBytesMax, memberOf } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import { holds } from '../../core/durability.ts';
import { chooseSource } from '../../core/traffic/choose-source.ts';
import { RateMeter } from '../../core/traffic/rate-meter.ts';
import { countBeyond } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import { type BlockRequest, BlockRequests } from './block-requests.ts';
import { BlockTodo } from './block-todo.ts';
import { doneBytes, type Fetch, type FetchOutcome, type FetchSize, fetchSize, type TransferProgress } from './fetch.ts';
import { isWanted } from './local-content.ts';
import { copiesFor, resume, stageCopies } from './local-copies.ts';

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
  #turn = 0;
  /** It waits until the limit lets another block come. */
  #isLimited = false;
  #stopped = false;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.#partial = new Map(context.folder.leftContents.map((content) => [content, 0]));
  }

  stop(): void {
    this.#stopped = true;
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
      todo: new BlockTodo(blockCount(size)),
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

  /** Handles a block that was requested. */
  block(peer: Peer, id: number, bytes: Uint8Array): void {
    peer.received.add(bytes.length, this.#context.clock.monotonicMs());
    const want = this.#take(peer, id);
    if (want === undefined) return;
    this.#stage(want.fetch, want.index, bytes, peer)
      .catch((error: unknown) => {
        this.#context.log.error({ path: want.fetch.operation.path, error: String(error) }, 'staging a block failed');
        want.fetch.failure = 'lost';
      })
      .finally(() => {
        // Not earlier: a block occupies memory until it is staged, and a disk can be slower than the network.
        this.#requests.release(peer);
        this.#pump();
      });
  }

  /** Handles a peer's answer that it cannot send the block. */
  missing(peer: Peer, { id, lacks, shows }: MissingMessage): void {
    const want = this.#take(peer, id);
    if (want === undefined) return;
    // A member that has not yet compared its whole folder with its journal may have the content without knowing.
    if (lacks && peer.state === 'active') want.fetch.lacking.push({ member: peer.id, shows });
    this.#requests.release(peer);
    want.fetch.todo.again(want.index);
    this.#abandonSource(want.fetch, peer);
    this.#pump();
  }

  /** Handles the end of a session: its open requests go to other peers. */
  closed(peer: Peer): void {
    for (const { fetch, index } of this.#requests.closed(peer)) fetch.todo.again(index);
    for (const fetch of this.#fetches.values()) {
      if (fetch.source === peer) this.#abandonSource(fetch, peer);
    }
    this.#pump();
  }

  /** Replaces stalled sources. A source with no outstanding request cannot stall. Must be called regularly. */
  tick(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const { fetch, peer, dueSinceMs } of this.#requests.all()) {
      if (nowMs - dueSinceMs > blockTimeoutMs) this.#abandonSource(fetch, peer);
    }
    this.#pump();
  }

  #take(peer: Peer, id: number): BlockRequest<Fetch> | undefined {
    const request = this.#requests.take(peer, id, this.#context.clock.monotonicMs());
    if (request === undefined || this.#fetches.get(request.fetch.content) === request.fetch) return request;
    this.#requests.release(peer);
    return undefined;
  }

  async #stage(fetch: Fetch, index: number, bytes: Uint8Array, peer: Peer): Promise<void> {
    const { content, size, operation } = fetch;
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
      fetch.meter.add(bytes.length, this.#context.clock.monotonicMs());
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

  #abandonSource(fetch: Fetch, peer: Peer): void {
    fetch.tried.add(peer.id);
    if (fetch.source !== peer) return;
    fetch.source = undefined;
    for (const index of this.#requests.withdraw(fetch)) fetch.todo.again(index);
  }

  #pump(): void {
    if (this.#stopped) return;
    for (const fetch of [...this.#fetches.values()]) {
      if (fetch.failure === undefined) fetch.source ??= this.#chooseSource(fetch);
      const { source } = fetch;
      if (fetch.failure !== undefined || source === undefined) {
        // Blocks that are being written are waited for: the next attempt must not write them at the same time.
        if (fetch.staging === 0) this.#finish(fetch, fetch.failure ?? 'missing');
      }
    }
    const queue = [...this.#fetches.values()].sort((a, b) => a.turn - b.turn);
    // The queue grows during the loop: it requests one block of each content in turn, so that neither a large content nor many small
    // ones delay the others.
    for (const fetch of queue) if (fetch.failure === undefined && this.#askNext(fetch)) queue.push(fetch);
  }

  /** Requests the next block of the content, if there is one and its source has less than the limit of open requests. */
  #askNext(fetch: Fetch): boolean {
    const { source } = fetch;
    if (source === undefined || fetch.isLooking || !this.#requests.hasPlace(fetch, source)) return false;
    const isLimited = fetch.size > inlineBytesMax;
    if (isLimited && !this.#mayReceive()) return false;
    const index = fetch.todo.take();
    if (index === undefined) return false;
    if (isLimited) this.#context.limits.receive.tryTake(blockRange(fetch.size, index).length);
    const id = this.#requests.add(fetch, index, source, this.#context.clock.monotonicMs());
    fetch.turn = ++this.#turn;
    source.link?.send({ type: 'want', id, content: fetch.content, index, path: fetch.operation.path });
    return true;
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
    return chooseSource(candidates, fetchSize(fetch.size))?.peer;
  }

  #finish(fetch: Fetch, outcome: FetchOutcome): void {
    if (this.#fetches.get(fetch.content) !== fetch) return;
    this.#fetches.delete(fetch.content);
    for (const { operation } of fetch.waiting) this.#fetching.delete(keyOf(operation));
    if (outcome === 'ok') this.#staged.set(fetch.content, fetch.size);
    // A fetch that finds a source later goes on with these blocks.
    else if (outcome === 'missing' && fetch.staged > 0) this.#partial.set(fetch.content, doneBytes(fetch));
    else this.#unstage(fetch.content);
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

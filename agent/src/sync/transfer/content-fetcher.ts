import type { ContentId, MemberId, Operation } from '@lockstep/shared';
import { fetchesMax } from '@lockstep/shared';
import { blockCount } from '../../core/blocks.ts';
import { Arrivals } from '../../core/traffic/arrivals.ts';
import { countBeyond } from '../../core/version.ts';
import { BlockExchange } from '../exchange/block-exchange.ts';
import type { BlockRequest } from '../exchange/block-requests.ts';
import { BlockTodo } from '../exchange/block-todo.ts';
import { type Fetch, type FetchOutcome, type FetchSize, fetchSize, type TransferProgress } from '../exchange/fetch.ts';
import type { PieceSource } from '../exchange/piece-requests.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import { isWanted } from './local-content.ts';
import { copiesFor, movedFor, resume, stageCopies } from './local-copies.ts';
import { Joiner } from './moved-blocks.ts';

/** Fetches contents block by block from the members that have them, verifies and stages them. */
export class ContentFetcher {
  /** Requests and receives the blocks. */
  readonly exchange: BlockExchange;
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #fetches = new Map<ContentId, Fetch>();
  /** Operations whose content is being fetched. */
  readonly #fetching = new Set<string>();
  /** The staged contents, each with its size. */
  readonly #staged = new Map<ContentId, number>();
  /** The contents of which fetches that ended, also of an earlier agent, left verified blocks, with their bytes as far as they are known. */
  readonly #partial: Map<ContentId, number>;
  #stopped = false;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.exchange = new BlockExchange(context, peers, {
      fetches: this.#fetches,
      stage: (request, bytes) => this.#stage(request, bytes),
      finish: (fetch, outcome) => this.#finish(fetch, outcome),
    });
    this.#partial = new Map(context.folder.leftContents.map((content) => [content, 0]));
  }

  stop(): void {
    this.#stopped = true;
    this.exchange.stop();
    for (const fetch of this.#fetches.values()) fetch.failure ??= 'lost';
    this.#fetches.clear();
  }

  isFetching(operation: Operation): boolean {
    return this.#fetching.has(keyOf(operation));
  }

  /** True while the member that was asked for its content says that it sends. The first block can take long on a slow line. */
  isBeingSent({ content }: Operation): boolean {
    const fetch = content && this.#fetches.get(content);
    return fetch !== undefined && this.exchange.askedOf(fetch)?.isSending === true;
  }

  /** The paths for which the content is being fetched. */
  pathsOf(content: ContentId): readonly string[] {
    return this.#fetches.get(content)?.waiting.map(({ operation }) => operation.path) ?? [];
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

  /**
   * Requests block `index` of a content that is being fetched before all others but those that readers wait for longer. The `ahead` blocks after
   * it are requested once no reader waits for a block.
   */
  prefer(content: ContentId, index: number, ahead: number): void {
    this.#fetches.get(content)?.todo.prefer(index, ahead);
    this.exchange.pump();
  }

  /** True while blocks are requested or written. A content that no member has is searched for longer, and none of it comes. */
  get isReceiving(): boolean {
    for (const fetch of this.#fetches.values())
      if (fetch.staging > 0 || this.exchange.askedOf(fetch) !== undefined) return true;
    return false;
  }

  progress(): readonly TransferProgress[] {
    return this.progressFor(() => true);
  }

  /** The fetches of contents that any of these paths waits for. */
  progressFor(isWanted: (path: string) => boolean): readonly TransferProgress[] {
    const nowMs = this.#context.clock.monotonicMs();
    const asked = this.exchange.asked();
    return [...this.#fetches.values()]
      .filter(({ waiting }) => waiting.some(({ operation }) => isWanted(operation.path)))
      .map((fetch) => this.#progressOf(fetch, asked, nowMs));
  }

  /** The bytes that are on the disk of the file at `path`, which is being fetched; 0 for any other. */
  arrivedBytes(path: string): number {
    for (const { operation, arrivals } of this.#fetches.values()) if (operation.path === path) return arrivals.done;
    return 0;
  }

  #progressOf(fetch: Fetch, asked: ReadonlyMap<Fetch, number>, nowMs: number): TransferProgress {
    const source = this.exchange.askedOf(fetch) ?? fetch.source;
    const pace = fetch.arrivals.pace(nowMs, fetch.startedMs);
    // On a slow line whole blocks are too far apart for a rate: it is 0 between two, and too high after one.
    const arriving = this.exchange.arrivingPerSecond(fetch);
    return {
      path: fetch.operation.path,
      source: source?.id,
      isSending: source?.isSending === true,
      isShared: fetch.todo.isShared,
      size: fetch.size,
      doneBytes: fetch.arrivals.done,
      reusedBytes: fetch.arrivals.reused,
      rates: fetch.arrivals.rates(nowMs),
      bytesPerSecond: arriving > 0 ? Math.min(arriving, pace || arriving) : pace,
      startedMs: fetch.startedMs,
      progressMs: fetch.arrivals.lastMs,
      isAsked: asked.has(fetch),
      sessionBytes: asked.get(fetch) ?? 0,
      isLimited: this.exchange.isLimited(fetch),
      isFull: fetch.failure === 'disk-full',
    };
  }

  /** Bytes of the missing contents that are staged, in whole or in part. */
  stagedBytes(): number {
    const { journal } = this.#context;
    let bytes = 0;
    for (const [content, size] of [...this.#staged, ...this.#partial]) if (isWanted(journal, content)) bytes += size;
    for (const fetch of this.#fetches.values()) {
      const { done } = fetch.arrivals;
      if (done > 0 && isWanted(journal, fetch.content)) bytes += done;
    }
    return bytes;
  }

  /** Bytes that came of blocks that are not complete: on a slow line one is on its way for a minute. */
  partialBytes(): number {
    return this.#peers.ready().reduce((sum, { link }) => sum + (link?.partialBlockBytes() ?? 0), 0);
  }

  /** True if no member is connected. Also if the session with the last one that sent contents has ended, until more comes. */
  hasNoSender(): boolean {
    return (this.exchange.isCutOff && this.partialBytes() === 0) || this.#peers.ready().length === 0;
  }

  /** True while a connected member knows operations that this one does not know yet. */
  mayLearnMore(): boolean {
    const known = this.#context.journal.log.known();
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
      this.#judge(fetch, isNeeded);
      // Blocks that are being written are waited for.
      if (fetch.staging === 0 && fetch.isUnneeded) this.#finish(fetch, 'unneeded');
    }
    this.exchange.pump();
  }

  /**
   * Withdraws what was requested for versions that these operations have superseded. The fetches wait for `dropUnneeded`: the next operation may
   * show the same content at another path.
   */
  superseded(operations: readonly Operation[], isNeeded: (content: ContentId) => boolean): void {
    if (this.#fetches.size === 0) return;
    const paths = new Set(operations.map(({ path }) => path));
    for (const fetch of this.#fetches.values()) {
      if (fetch.waiting.some(({ operation }) => paths.has(operation.path))) this.#judge(fetch, isNeeded);
    }
  }

  #judge(fetch: Fetch, isNeeded: (content: ContentId) => boolean): void {
    fetch.isUnneeded = !isNeeded(fetch.content);
    if (fetch.isUnneeded) this.exchange.withdraw(fetch);
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
      open.isUnneeded = false;
      this.exchange.follow(open);
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
      asked: new Set(),
      lacking: [],
      source: undefined,
      sources: undefined,
      todo: new BlockTodo(blockCount(size), fetchSize(size) === 'large' ? this.exchange.shareOf(operation) : undefined),
      staging: 0,
      staged: 0,
      arrivals: new Arrivals(),
      isUnneeded: false,
      isLooking: this.#partial.has(content),
      failure: undefined,
      turn: this.exchange.nextTurn(),
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

  async #stage({ fetch, index, peer }: BlockRequest<Fetch>, bytes: Uint8Array): Promise<void> {
    const { content, size, operation } = fetch;
    // The folder takes the bytes over.
    const { length } = bytes;
    const { path, blocks } = operation;
    fetch.staging++;
    try {
      const staged = this.#context.folder.stageBlock({ path, content, blocks, size, index, bytes });
      const outcome = await staged.finally(() => fetch.staging--);
      if (outcome === 'corrupt') {
        fetch.todo.again(index);
        this.#sentWrong(fetch, peer);
      } else if (outcome !== 'ok') fetch.failure = outcome;
      else {
        fetch.staged++;
        this.exchange.announce(fetch, [index]);
        this.#context.facts.staged.publish(content);
        fetch.arrivals.came(length, peer.id, this.#context.clock.monotonicMs());
        if (fetch.staged === blockCount(size)) this.#finish(fetch, 'ok');
      }
    } catch (error) {
      this.#context.log.error({ path: operation.path, error: String(error) }, 'staging a block failed');
      fetch.failure = 'lost';
    }
  }

  #sentWrong(fetch: Fetch, peer: Peer): void {
    const { path } = fetch.operation;
    const name = this.#peers.nameOf(peer.id);
    const detail = `${name} sent bytes of ${path} that do not match its content id. Check the disk of ${name}.`;
    this.#context.problems.set('content-corrupt', { path, member: name }, detail);
    this.exchange.abandon(fetch, peer);
  }

  /** Finds the blocks that an earlier fetch left, and stages those that are here already, while others are fetched. */
  async #begin(fetch: Fetch): Promise<void> {
    const { operation, size } = fetch;
    fetch.staging++;
    try {
      const left = fetch.isLooking ? await resume(this.#context, fetch) : new Set<number>();
      fetch.isLooking = false;
      this.exchange.announce(fetch, [...left]);
      const copies = copiesFor(this.#context, operation).filter(({ index }) => !left.has(index));
      fetch.todo.skip(copies.map(({ index }) => index));
      const moved = movedFor(this.#context, operation, copies, left);
      fetch.todo.skip(moved?.missing ?? []);
      this.exchange.pump();
      const proceed = (): void => this.exchange.pump();
      await stageCopies(this.#context, fetch, copies, proceed);
      if (moved !== undefined) {
        const calls = {
          source: () => this.exchange.holderFor(fetch),
          proceed,
          corrupt: (source: PieceSource) => this.#sentWrong(fetch, source as Peer),
        };
        await new Joiner({ context: this.#context, requests: this.exchange.pieces, calls }, fetch, moved).run();
      }
    } catch (error) {
      this.#context.log.error({ path: operation.path, error: String(error) }, 'staging blocks of this folder failed');
      fetch.failure = 'lost';
    }
    fetch.staging--;
    if (fetch.staged === blockCount(size)) this.#finish(fetch, 'ok');
    this.exchange.pump();
  }

  #finish(fetch: Fetch, outcome: FetchOutcome): void {
    if (this.#fetches.get(fetch.content) !== fetch) return;
    this.#fetches.delete(fetch.content);
    for (const { operation } of fetch.waiting) this.#fetching.delete(keyOf(operation));
    if (outcome === 'ok') this.#staged.set(fetch.content, fetch.size);
    // A fetch that finds a source later goes on with these blocks.
    else if (outcome === 'missing' && fetch.staged > 0) this.#partial.set(fetch.content, fetch.arrivals.done);
    else this.#unstage(fetch.content);
    this.exchange.ended(fetch);
    this.#note(fetch, outcome);
    for (const { done } of fetch.waiting) done(outcome);
    const paths = fetch.waiting.map(({ operation }) => operation.path);
    this.#context.facts.fetched.publish({ paths, areHere: outcome === 'ok' });
  }

  #note({ content, waiting, lacking }: Fetch, outcome: FetchOutcome): void {
    const { missing, clock, others } = this.#context;
    if (outcome === 'ok') missing.found(content);
    if (outcome !== 'missing') return;
    const members = this.#peers.all().flatMap(({ id, state }) => (state === 'left' ? [] : id));
    const gone = this.#peers.all().flatMap(({ id, state }) => (state === 'left' ? id : []));
    const nowMs = clock.monotonicMs();
    // The members were asked about the path of the first operation; their entries at other paths are not known.
    for (const [index, { operation }] of waiting.entries()) {
      // An old version that no member has is no problem of the path.
      if (!this.#context.journal.heads.has(operation)) continue;
      const known = index === 0 ? lacking : lacking.map(({ member }) => ({ member, shows: true }));
      const left = gone.filter((id) => others.hadIt(id, operation));
      missing.searched(operation, { lacking: known, members, left, nowMs });
    }
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

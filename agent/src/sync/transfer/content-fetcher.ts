import type { ContentId, MemberId, MissingMessage, Operation } from '@lockstep/shared';
import { blocksInFlightPerSourceMax, blockTimeoutMs, fetchesMax, memberOf, smallFetchBytesMax } from '@lockstep/shared';
import { blockCount } from '../../core/blocks.ts';
import { holds } from '../../core/durability.ts';
import { RateMeter } from '../../core/rate-meter.ts';
import { countBeyond } from '../../core/version.ts';
import type { Peer, Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { LackingMember } from '../state/missing-contents.ts';
import { BlockTodo } from './block-todo.ts';

/**
 * `ok`: the content is staged, and verified. `missing`: nobody reachable has it. `unneeded`: its version was superseded meanwhile, or it
 * is here by other means. `lost`: what was staged of it is gone, or could not be written.
 */
export type FetchOutcome = 'ok' | 'missing' | 'disk-full' | 'unneeded' | 'lost';

/** Small and large contents do not wait for each other's room. */
export type FetchSize = 'small' | 'large';

/** Which of the two a content of so many bytes is. */
export function fetchSize(bytes: number): FetchSize {
  return bytes > smallFetchBytesMax ? 'large' : 'small';
}

/** One content on its way here. */
interface Fetch {
  readonly operation: Operation;
  readonly content: ContentId;
  readonly size: number;
  readonly waiting: { readonly operation: Operation; readonly done: (outcome: FetchOutcome) => void }[];
  readonly tried: Set<MemberId>;
  /** Those of them that said that they have it nowhere. */
  readonly lacking: LackingMember[];
  source: Peer | undefined;
  /**
   * No block that has come is asked for again while it is being written: a second write could reach the file when it is in its place
   * already, and give it a new modification time.
   */
  readonly todo: BlockTodo;
  /** How many blocks are being written, and how many have been. */
  staging: number;
  staged: number;
  /** Bytes that were staged. */
  readonly meter: RateMeter;
  /** Why it cannot be staged, once that is so. */
  failure: 'disk-full' | 'lost' | undefined;
  /** Whose turn was least recently is asked for next. */
  turn: number;
  readonly startedMs: number;
}

/** A block that a peer was asked for. */
interface Want {
  readonly fetch: Fetch;
  readonly index: number;
  readonly peer: Peer;
  /** Peers answer in order: since when this one is due, for all that was asked before it has been answered. */
  dueSinceMs: number;
}

/** A transfer as people see it. */
export interface TransferProgress {
  readonly path: string;
  readonly source: MemberId | undefined;
  readonly size: number;
  readonly doneBytes: number;
  readonly bytesPerSecond: number;
  readonly startedMs: number;
  /** When some of it last came. */
  readonly progressMs: number | undefined;
  /** Its source was asked for some of it and has not answered yet. */
  readonly isAsked: boolean;
  /** It came and could not be written: the disk is full. */
  readonly isFull: boolean;
}

/** Fetches content block by block from the operation's origin, or from whoever else has it, and stages it verified. */
export class ContentFetcher {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #fetches = new Map<ContentId, Fetch>();
  /** The operations whose content is on its way. */
  readonly #fetching = new Set<string>();
  readonly #staged = new Set<ContentId>();
  /** By their ids, which ascend. */
  readonly #wants = new Map<number, Want>();
  readonly #inFlight = new Map<Peer, number>();
  #wantId = 0;
  #turn = 0;
  #stopped = false;

  /** `finished`: a fetch came to its end, whoever asked for it; others may have waited for the same content. */
  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
  }

  stop(): void {
    this.#stopped = true;
    this.#fetches.clear();
  }

  isFetching(operation: Operation): boolean {
    return this.#fetching.has(keyOf(operation));
  }

  nameOf(member: MemberId): string {
    return this.#peers.nameOf(member);
  }

  /** How many more fetches of this size could begin. */
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
    const asked = new Set([...this.#wants.values()].map(({ fetch }) => fetch));
    return [...this.#fetches.values()].map((fetch) => ({
      path: fetch.operation.path,
      source: fetch.source?.id,
      size: fetch.size,
      doneBytes: fetch.meter.total,
      bytesPerSecond: fetch.meter.perSecond(nowMs),
      startedMs: fetch.startedMs,
      progressMs: fetch.meter.lastMs,
      isAsked: asked.has(fetch),
      isFull: fetch.failure === 'disk-full',
    }));
  }

  /** True while a member that could be asked knows operations that this one does not know yet. */
  mayLearnMore(): boolean {
    const known = this.#context.journal.known();
    return this.#peers.ready().some((peer) => countBeyond(peer.known, known) > 0);
  }

  /** The staged content was used: its file moved into place. */
  applied(content: ContentId): void {
    this.#staged.delete(content);
  }

  /** The staged content was copied, or turned out to be unusable: nobody needs it any more. */
  drop(content: ContentId): void {
    if (this.#staged.delete(content)) this.#unstage(content);
  }

  /** Drops what was staged, or is on its way, for versions that have been superseded since: nobody comes for it. */
  dropUnneeded(isNeeded: (content: ContentId) => boolean): void {
    for (const content of this.#staged) if (!isNeeded(content)) this.drop(content);
    for (const fetch of [...this.#fetches.values()]) {
      // What is being written comes to its end first.
      if (fetch.staging === 0 && !isNeeded(fetch.content)) this.#finish(fetch, 'unneeded');
    }
  }

  /**
   * Fetches what `operation` put at its path; `done` is called once. False, and nothing happens, when it is on its way already
   * or `fetchesMax` others of its size are: ask again when one is done.
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
      failure: undefined,
      turn: ++this.#turn,
      startedMs: this.#context.clock.monotonicMs(),
    };
    this.#fetches.set(content, fetch);
    this.#fetching.add(keyOf(operation));
    this.#pump();
    return true;
  }

  /** A block that was asked for. */
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
        // Not before: until it is staged a block fills memory, and a disk can be slower than the network.
        this.#release(peer);
        this.#pump();
      });
  }

  /** The peer has no such content. */
  missing(peer: Peer, { id, lacks, shows }: MissingMessage): void {
    const want = this.#take(peer, id);
    if (want === undefined) return;
    // One that has not compared its whole folder with its journal yet may have it without knowing.
    if (lacks && peer.state === 'active') want.fetch.lacking.push({ member: peer.id, shows });
    this.#release(peer);
    want.fetch.todo.again(want.index);
    this.#abandonSource(want.fetch, peer);
    this.#pump();
  }

  /** The session ended: what was asked of it is asked of others. */
  closed(peer: Peer): void {
    for (const [id, want] of this.#wants) {
      if (want.peer !== peer) continue;
      this.#wants.delete(id);
      want.fetch.todo.again(want.index);
    }
    this.#inFlight.delete(peer);
    for (const fetch of this.#fetches.values()) {
      if (fetch.source === peer) this.#abandonSource(fetch, peer);
    }
    this.#pump();
  }

  /** Called now and then: replaces sources that stall. Who was not asked for anything, because others were first, does not. */
  tick(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const { fetch, peer, dueSinceMs } of [...this.#wants.values()]) {
      if (nowMs - dueSinceMs > blockTimeoutMs) this.#abandonSource(fetch, peer);
    }
    this.#pump();
  }

  #take(peer: Peer, id: number): Want | undefined {
    const want = this.#wants.get(id);
    if (want === undefined || want.peer !== peer) return undefined;
    this.#wants.delete(id);
    const nowMs = this.#context.clock.monotonicMs();
    for (const [later, behind] of this.#wants) {
      if (later > id && behind.peer === peer) behind.dueSinceMs = nowMs;
    }
    if (this.#fetches.get(want.fetch.content) === want.fetch) return want;
    this.#release(peer);
    return undefined;
  }

  #release(peer: Peer): void {
    this.#inFlight.set(peer, Math.max(0, (this.#inFlight.get(peer) ?? 0) - 1));
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

  #abandonSource(fetch: Fetch, peer: Peer): void {
    fetch.tried.add(peer.id);
    if (fetch.source !== peer) return;
    fetch.source = undefined;
    for (const [id, want] of this.#wants) {
      if (want.fetch !== fetch) continue;
      this.#wants.delete(id);
      this.#release(peer);
      fetch.todo.again(want.index);
    }
  }

  #pump(): void {
    if (this.#stopped) return;
    for (const fetch of [...this.#fetches.values()]) {
      if (fetch.failure === undefined) fetch.source ??= this.#chooseSource(fetch);
      const { source } = fetch;
      if (fetch.failure !== undefined || source === undefined) {
        // What is being written is waited for: it must not be written again by the next attempt at the same time.
        if (fetch.staging === 0) this.#finish(fetch, fetch.failure ?? 'missing');
      }
    }
    const queue = [...this.#fetches.values()].sort((a, b) => a.turn - b.turn);
    // The queue grows while it is gone through: one block of each content in turn, so that neither a large one nor many small ones
    // keep the others waiting.
    for (const fetch of queue) if (fetch.failure === undefined && this.#askNext(fetch)) queue.push(fetch);
  }

  /** Asks for one more block of the content, if there is one to ask for and its source is not busy enough. */
  #askNext(fetch: Fetch): boolean {
    const { source } = fetch;
    const inFlight = source === undefined ? 0 : (this.#inFlight.get(source) ?? 0);
    if (source === undefined || inFlight >= blocksInFlightPerSourceMax) return false;
    const index = fetch.todo.take();
    if (index === undefined) return false;
    const id = ++this.#wantId;
    this.#wants.set(id, { fetch, index, peer: source, dueSinceMs: this.#context.clock.monotonicMs() });
    this.#inFlight.set(source, inFlight + 1);
    fetch.turn = ++this.#turn;
    source.link?.send({ type: 'want', id, content: fetch.content, index, path: fetch.operation.path });
    return true;
  }

  /** The operation's origin; else a member that says it holds the operation, the nearest first; else anyone at all. */
  #chooseSource(fetch: Fetch): Peer | undefined {
    const candidates = this.#peers.ready().filter((peer) => !fetch.tried.has(peer.id));
    const rank = (peer: Peer): number =>
      peer.id === memberOf(fetch.operation.origin) ? 0 : holds(peer.applied, fetch.operation) ? 1 : 2;
    return candidates.sort((a, b) => rank(a) - rank(b) || (a.rttMs ?? 0) - (b.rttMs ?? 0))[0];
  }

  #finish(fetch: Fetch, outcome: FetchOutcome): void {
    if (this.#fetches.get(fetch.content) !== fetch) return;
    this.#fetches.delete(fetch.content);
    for (const { operation } of fetch.waiting) this.#fetching.delete(keyOf(operation));
    if (outcome === 'ok') this.#staged.add(fetch.content);
    else this.#unstage(fetch.content);
    this.#note(fetch, outcome);
    for (const { done } of fetch.waiting) done(outcome);
    const paths = fetch.waiting.map(({ operation }) => operation.path);
    this.#context.facts.fetched.tell({ paths, areHere: outcome === 'ok' });
  }

  #note({ content, waiting, lacking }: Fetch, outcome: FetchOutcome): void {
    const { missing, clock } = this.#context;
    if (outcome === 'ok') missing.found(content);
    if (outcome !== 'missing') return;
    const members = this.#peers.all().flatMap(({ id, state }) => (state === 'left' ? [] : id));
    const nowMs = clock.monotonicMs();
    // They were asked about the path of the first; what they show elsewhere is not known.
    for (const [index, { operation }] of waiting.entries()) {
      const known = index === 0 ? lacking : lacking.map(({ member }) => ({ member, shows: true }));
      missing.searched(operation, { lacking: known, members, nowMs });
    }
  }

  #unstage(content: ContentId): void {
    this.#context.folder.unstage(content).catch((error: unknown) => {
      this.#context.log.warn({ error: String(error) }, 'what was staged could not be removed');
    });
  }
}

function keyOf(operation: Operation): string {
  return `${operation.content} ${operation.path}`;
}

import {
  type ContentId,
  dotKey,
  entryType,
  isLive,
  type MemberId,
  memberOf,
  type Operation,
  type OriginId,
  parentOf,
} from '@lockstep/shared';
import { conflictPath } from '../../core/conflict-name.ts';
import { showsSomething } from '../../core/entry.ts';
import { type FindOperation, isResurrected, originalOf, resurrectedAmong } from '../../core/join.ts';
import type { Draft } from '../../core/local-change.ts';
import { oldestActive } from '../../core/membership.ts';
import { inOrder, isSameContent, losers } from '../../core/merge.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Peers } from '../members/peers.ts';
import type { ContentSource } from '../ports/folder.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { fileSource, filesWith } from '../transfer/local-content.ts';
import { JoinPacer } from './join-pacer.ts';
import {
  type ConflictCopy,
  type CopyToMake,
  directoryDraft,
  hasCopy,
  ResolutionBatch,
  type Verdict,
} from './resolution-batch.ts';

/** Number of paths resolved together: bounds memory and the duration of one transaction. */
const pathsAtOnce = 256;
/** The fallback resolver acts after the others had this long to return. */
const fallbackRetryMs = 2_000;

/** Longest delay of joins because others know more than this member: they may make operations without end. */
const learnMsMax = 10_000;
/** Interval at which that is checked. */
const learnRetryMs = 50;

/** This member's data for the choice of the oldest active member. */
export interface Seniority {
  readonly id: MemberId;
  readonly state: 'active' | 'syncing';
  readonly enabledAt?: number | undefined;
}

interface Contested {
  readonly path: string;
  readonly heads: readonly Operation[];
}

/**
 * Resolves the results of concurrent operations: writes losing contents as conflict copies, joins siblings, and
 * resurrects directories that live entries need. One member is responsible for each operation: its origin, or the oldest active
 * member while the origin is away. Name and content of a copy do not depend on which member makes it.
 */
export class ConflictResolver {
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  readonly #peers: Peers;
  readonly #transfers: ContentFetcher;
  readonly #seniority: () => Seniority;
  readonly #pacer: JoinPacer;
  readonly #yielder: Yielder;
  readonly #loop: TaskLoop;
  /** Start of the present delay because others know more. */
  #learningSinceMs: number | undefined;

  /** `seniority`: that of this member; the present members choose the oldest by it. */
  constructor(
    context: Context,
    parts: { readonly operationWriter: OperationWriter; readonly peers: Peers; readonly transfers: ContentFetcher },
    seniority: () => Seniority,
  ) {
    this.#context = context;
    this.#operationWriter = parts.operationWriter;
    this.#peers = parts.peers;
    this.#transfers = parts.transfers;
    this.#seniority = seniority;
    this.#pacer = new JoinPacer(() => context.clock.random());
    this.#yielder = new Yielder(context.clock);
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) => context.log.error({ error: String(error) }, 'resolving conflicts failed; it is retried'),
      retryMs: fallbackRetryMs,
    });
    const { made, received, contentLost, membersChanged, sessionOpened, sessionClosed, fetched } = context.facts;
    for (const fact of [made, received, contentLost, membersChanged, sessionOpened, sessionClosed]) {
      fact.on(() => this.poke());
    }
    fetched.on(({ areHere }) => {
      // A content that no member has now is requested again later: an immediate retry would be an endless loop.
      if (areHere) this.poke();
    });
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Requests a run: there may be siblings to join or directories to resurrect. */
  poke(): void {
    this.#loop.poke();
  }

  async #run(): Promise<void> {
    if (this.#yielder.restMs > 0) {
      this.#loop.in(this.#yielder.restMs);
      return;
    }
    if (this.#mayBeSettled()) {
      this.#loop.in(learnRetryMs);
      return;
    }
    const open = (await this.#settleAll()) + (await this.#holdUp());
    this.#deleteLost();
    this.#yielder.passed();
    if (open > 0) this.#loop.in(fallbackRetryMs);
  }

  /**
   * Whether joins must wait, because an operation still on its way may supersede a sibling. A join made without that operation
   * would resurrect the overwritten content, or make a copy of it.
   */
  #mayBeSettled(): boolean {
    const { clock, journal } = this.#context;
    if (journal.counts().contested === 0 || !this.#transfers.mayLearnMore()) {
      this.#learningSinceMs = undefined;
      return false;
    }
    this.#learningSinceMs ??= clock.monotonicMs();
    return clock.monotonicMs() - this.#learningSinceMs < learnMsMax;
  }

  /** Resolves all contested paths. Returns how many of them are left to others, or for later. */
  async #settleAll(): Promise<number> {
    const { journal } = this.#context;
    if (journal.counts().contested === 0) return 0;
    let left = 0;
    let after: string | undefined;
    for (;;) {
      await this.#yielder.maybeYield();
      const sinceMs = this.#context.clock.monotonicMs();
      const contested = journal.contested(after, pathsAtOnce);
      const open = await this.#settle(contested);
      if (contested.length > 0 && open === contested.length) this.#yielder.wasted(sinceMs);
      left += open;
      after = contested.at(-1)?.path;
      if (contested.length < pathsAtOnce || this.#loop.isStopped) return left;
    }
  }

  /** Joins the heads at these paths that this member is responsible for, in one transaction. Returns how many paths are left to others, or for later. */
  async #settle(contested: readonly Contested[]): Promise<number> {
    const { journal } = this.#context;
    const verdicts: Verdict[] = [];
    let left = 0;
    for (const { path, heads } of contested) {
      const verdict = await this.#judge(path, heads);
      if (verdict.mine.length < verdict.candidates) left++;
      if (verdict.mine.length > 0) verdicts.push(verdict);
    }
    const batch = new ResolutionBatch(this.#context);
    for (const verdict of verdicts) {
      // Keeping the losing contents took time: the verdict must be about the present heads.
      if (!sameHeads(journal.heads(verdict.path), verdict.heads) || !batch.add(verdict)) this.#loop.poke();
    }
    const refused = new Set(this.#operationWriter.commit(batch.drafts).refused);
    for (const { path } of verdicts) this.#pacer.joined(path, this.#context.clock.monotonicMs());
    for (const copy of batch.copies) if (!refused.has(copy.copy)) this.#noteCopy(copy);
    for (const { mine, path } of verdicts) {
      if (refused.has(path)) continue;
      for (const head of mine) if (this.#context.missing.isLost(head)) this.#noteLost(head);
    }
    return left + refused.size;
  }

  /** The verdict at `path`. `mine` is empty while the content that the join would repeat is not here. */
  async #judge(path: string, heads: readonly Operation[]): Promise<Verdict & { readonly candidates: number }> {
    const { journal } = this.#context;
    const heldUp = journal.hasLiveBelow(path);
    const find: FindOperation = (dot) => journal.operation(dot);
    const originals = new Map(heads.map((head) => [head, originalOf(head, find)]));
    const original = (head: Operation): Operation => originals.get(head) ?? head;
    // A content that no member has any more can neither be kept nor copied.
    const { missing } = this.#context;
    const gone = heads.filter((head) => missing.isLost(head));
    const yielding = heldUp ? [] : [...new Set([...resurrectedAmong(heads, journal), ...gone])];
    const others = inOrder(
      heads.filter((head) => !yielding.includes(head)),
      original,
    );
    const [visible] = others;
    const directoryWins = visible !== undefined && heldUp && entryType(visible) !== 'directory';
    const candidates = directoryWins ? others : [...others.slice(1), ...yielding];
    const lost = losers(others, heldUp, original).filter((head) => !gone.includes(head));
    const mine: Operation[] = [];
    const copies: CopyToMake[] = [];
    const verdict = {
      path,
      heads: [...others, ...yielding],
      directoryWins,
      deleteHolds: false,
      mine,
      copies,
      candidates: candidates.length,
    };
    if (visible === undefined || candidates.length === 0) return verdict;
    if (!this.#pacer.allows(path, this.#context.clock.monotonicMs())) return verdict;
    // The join repeats the visible content, and may outlive all other operations with that content.
    if (!directoryWins && !(await this.#keep(visible))) return verdict;
    for (const head of candidates) {
      if (lost.some((loser) => isSameContent(loser, head)) && !(await this.#keep(head))) continue;
      if (this.#isResponsible(head)) mine.push(head);
    }
    for (const head of lost) {
      if (!mine.some((joined) => isSameContent(joined, head))) continue;
      const { hlc, origin } = original(head);
      const loser = memberOf(origin);
      const copy = conflictPath(path, hlc, this.#peers.nameOf(loser));
      if (!(await hasCopy(this.#context, head, copy))) copies.push({ path, head, loser, copy });
    }
    if (heldUp || !isLive(visible) || candidates.some(isLive)) return verdict;
    return { ...verdict, deleteHolds: isResurrected(visible, mine, journal) };
  }

  /**
   * Deletes entries that no disk has any more, neither their content nor an older version at their path: they were removed
   * everywhere while they were ignored, or lost with the only disk that had them. If a disk has an entry there, its user decides.
   */
  #deleteLost(): void {
    const { journal, missing } = this.#context;
    const deleted = new Map<string, Draft>();
    for (const { path } of missing.lost()) {
      const heads = journal.heads(path);
      const [visible] = heads;
      const row = journal.disk(path);
      const isNowhere =
        !showsSomething(row) &&
        heads.every((head) => !isLive(head) || (missing.isLost(head) && !missing.isShown(head)));
      if (visible === undefined || !isLive(visible) || !isNowhere || !this.#isResponsible(visible)) continue;
      // An empty file at the path is still to be removed.
      const vanished = row?.fingerprint === undefined;
      deleted.set(path, { path, kind: 'delete', parents: heads, vanished });
      this.#noteLost(visible);
    }
    if (deleted.size > 0) this.#operationWriter.commit([...deleted.values()]);
  }

  /** Resurrects the parents of live entries whose parent is not a directory. Returns how many are left to others. */
  async #holdUp(): Promise<number> {
    const { journal } = this.#context;
    let left = 0;
    let after: string | undefined;
    for (;;) {
      await this.#yielder.maybeYield();
      const orphans = journal.orphans(after, pathsAtOnce);
      left += await this.#raise(orphans);
      after = orphans.at(-1)?.path;
      if (orphans.length < pathsAtOnce || this.#loop.isStopped) return left;
    }
  }

  /** Journals the parents of these entries again, in one transaction. Returns how many parents are left to others. */
  async #raise(orphans: readonly Operation[]): Promise<number> {
    const { journal } = this.#context;
    const raised: Draft[] = [];
    const blocked: Contested[] = [];
    const isMine = new Map<string, boolean>();
    for (const orphan of orphans) {
      const parent = parentOf(orphan.path);
      if (parent !== '') isMine.set(parent, isMine.get(parent) || this.#isResponsible(orphan));
    }
    let left = 0;
    for (const [path, mine] of isMine) {
      const heads = journal.heads(path);
      const [blocking] = heads;
      if (blocking !== undefined && isLive(blocking) && entryType(blocking) !== 'directory')
        blocked.push({ path, heads });
      else if (mine) raised.push(directoryDraft(this.#context, path, heads));
      else left++;
    }
    const { operations, refused } = this.#operationWriter.commit(raised);
    if (operations.length > 0) this.#loop.poke();
    left += refused.length;
    return left + (await this.#settle(blocked));
  }

  #isResponsible(operation: Operation): boolean {
    const { self } = this.#context;
    if (memberOf(operation.origin) === self.id) return true;
    if (this.#isCaredFor(operation.origin)) return false;
    const present = this.#peers.ready().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
    return oldestActive([this.#seniority(), ...present])?.id === self.id;
  }

  /**
   * Whether the member that made these operations joins them itself. Only a member that is down for all others does not: if a broken
   * session were enough, both of its sides would act for each other, and join the same siblings.
   */
  #isCaredFor(origin: OriginId): boolean {
    const peer = this.#peers.get(memberOf(origin));
    if (peer === undefined || peer.state === 'left') return false;
    // An operation of a lost journal belongs to no present origin.
    if (peer.ready && peer.origin !== origin) return false;
    if (peer.state !== 'down') return true;
    return this.#peers.ready().some(({ heartbeat }) => heartbeat?.latenciesMs[peer.id] !== undefined);
  }

  /**
   * Keeps a losing content in history. Every member does so until the copy is made, so that any of them can make it, and none makes a
   * copy of a content that it lacks. The rows of `disk` may be outdated: a user may have just overwritten the file. False if the
   * content is not here: then it is fetched.
   */
  async #keep(head: Operation): Promise<boolean> {
    const { content, blocks, size = 0 } = head;
    if (content === undefined) return true;
    const { folder, inbox, log } = this.#context;
    for (const source of this.#sources(content)) {
      try {
        if (!(await folder.keep({ content, blocks, size, source }))) continue;
      } catch (error) {
        log.warn({ path: head.path, error: String(error) }, 'a losing version could not be kept');
        continue;
      }
      if (source.from === 'bytes') inbox.delete(content);
      if (source.from === 'staged') this.#transfers.drop(content);
      return true;
    }
    this.#transfers.fetch(head, (outcome) => {
      if (outcome === 'ok') this.poke();
    });
    return false;
  }

  #sources(content: ContentId): readonly ContentSource[] {
    const { inbox } = this.#context;
    // A content that is already in history stays as it is.
    const sources: ContentSource[] = [{ from: 'history' }];
    const bytes = inbox.get(content);
    if (bytes) sources.push({ from: 'bytes', bytes });
    if (this.#transfers.isStaged(content)) sources.push({ from: 'staged' });
    return [...sources, ...filesWith(this.#context, content).map(fileSource)];
  }

  #noteCopy({ path, copy, loser }: ConflictCopy): void {
    const { events, facts } = this.#context;
    events.add('conflict', { path, copy, member: loser, name: this.#peers.nameOf(loser) });
    facts.copied.publish();
  }

  #noteLost({ path, origin }: Operation): void {
    const member = memberOf(origin);
    this.#context.events.add('content-lost', { path, member, name: this.#peers.nameOf(member) });
  }
}

function sameHeads(a: readonly Operation[], b: readonly Operation[]): boolean {
  return a.length === b.length && a.every((head) => b.some((other) => dotKey(other) === dotKey(head)));
}

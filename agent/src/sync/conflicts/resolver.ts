import { dotKey, entryType, isLive, memberOf, type Operation, parentOf } from '@lockstep/shared';
import { showsSomething } from '../../core/entry.ts';
import type { Draft } from '../../core/local-change.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Peers } from '../members/peers.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { JoinPacer } from './join-pacer.ts';
import { isRenameOfReplaced } from './replaced-rename.ts';
import { type ConflictCopy, directoryDraft, ResolutionBatch, type Verdict } from './resolution-batch.ts';
import { Responsibility, type Seniority } from './responsibility.ts';
import { type Contested, SiblingJudge } from './sibling-judge.ts';

/** Number of paths resolved together: bounds memory and the duration of one transaction. */
const pathsAtOnce = 256;
/** Number of paths judged without a pause: it bounds the time for which the agent does nothing else. */
const judgedAtOnce = 64;
/** The time for other members to return before the fallback resolver acts. */
const fallbackRetryMs = 2_000;

/** Longest delay of joins because others know more than this member: they may make operations without end. */
const learnMsMax = 10_000;
/** Interval at which that is checked. */
const learnRetryMs = 50;

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
  readonly #responsibility: Responsibility;
  readonly #judge: SiblingJudge;
  readonly #pacer: JoinPacer;
  readonly #yielder: Yielder;
  readonly #loop: TaskLoop;
  /** The start of the present delay: other members know more. */
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
    this.#responsibility = new Responsibility(context.self, parts.peers, seniority);
    this.#pacer = new JoinPacer(() => context.clock.random());
    this.#judge = new SiblingJudge(context, {
      peers: parts.peers,
      transfers: parts.transfers,
      responsibility: this.#responsibility,
      pacer: this.#pacer,
      arrived: () => this.poke(),
    });
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
    if (journal.totals.counts().contested === 0 || !this.#transfers.mayLearnMore()) {
      this.#learningSinceMs = undefined;
      return false;
    }
    this.#learningSinceMs ??= clock.monotonicMs();
    return clock.monotonicMs() - this.#learningSinceMs < learnMsMax;
  }

  /** Resolves all contested paths. Returns how many of them are left to others, or for later. */
  async #settleAll(): Promise<number> {
    const { journal } = this.#context;
    if (journal.totals.counts().contested === 0) return 0;
    let left = 0;
    let after: string | undefined;
    for (;;) {
      await this.#yielder.maybeYield();
      const sinceMs = this.#context.clock.monotonicMs();
      const contested = journal.heads.contested(after, pathsAtOnce);
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
    for (let from = 0; from < contested.length; from += judgedAtOnce) {
      await this.#yielder.maybeYield();
      for (const verdict of await this.#judge.verdicts(contested.slice(from, from + judgedAtOnce))) {
        if (verdict.mine.length < verdict.candidates) left++;
        if (verdict.mine.length > 0) verdicts.push(verdict);
      }
    }
    const batch = new ResolutionBatch(this.#context);
    for (const verdict of verdicts) {
      // Keeping the losing contents took time: the verdict must be about the present heads.
      if (!sameHeads(journal.heads.at(verdict.path), verdict.heads) || !batch.add(verdict)) this.#loop.poke();
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

  /**
   * Deletes entries that no disk has any more, neither their content nor an older version at their path: they were removed
   * everywhere while they were ignored, or lost with the only disk that had them. If a disk has an entry there, its user decides. So a
   * person does if a member left that may have it: it may come back. A member on demand that has the name there expects the file, unless
   * it was renamed while a user overwrote or deleted it elsewhere.
   */
  #deleteLost(): void {
    const { journal, missing } = this.#context;
    const isNowhere = (head: Operation): boolean =>
      missing.isLost(head) &&
      !missing.isShown(head) &&
      (!missing.isNamed(head) || isRenameOfReplaced(journal, head)) &&
      missing.leftWith(head).length === 0;
    const deleted = new Map<string, Draft>();
    for (const { path } of missing.lost()) {
      const heads = journal.heads.at(path);
      const [visible] = heads;
      const row = journal.disk.at(path);
      const isGone = !showsSomething(row) && heads.every((head) => !isLive(head) || isNowhere(head));
      if (visible === undefined || !isLive(visible) || !isGone || !this.#responsibility.settles(visible)) continue;
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
      const orphans = journal.heads.orphans(after, pathsAtOnce);
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
      if (parent !== '') isMine.set(parent, isMine.get(parent) || this.#responsibility.includes(orphan));
    }
    let left = 0;
    for (const [path, mine] of isMine) {
      const heads = journal.heads.at(path);
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

import { type ContentId, entryType, isLive, memberOf, type Operation } from '@lockstep/shared';
import { conflictPath } from '../../core/conflict-name.ts';
import { type FindOperation, isResurrected, originalOf, resurrectedAmong } from '../../core/join.ts';
import { inOrder, isSameContent, losers } from '../../core/merge.ts';
import type { Peers } from '../members/peers.ts';
import type { ContentSource } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { sourcesHere } from '../transfer/local-content.ts';
import type { JoinPacer } from './join-pacer.ts';
import { type CopyToMake, hasCopy, type Verdict } from './resolution-batch.ts';
import type { Responsibility } from './responsibility.ts';

/** The siblings at a path, by what a join does with them. */
interface Ranking {
  readonly path: string;
  /** There are live entries below the path. */
  readonly heldUp: boolean;
  /** The operation that first had the content of a head. */
  readonly original: (head: Operation) => Operation;
  /** The visible head, and those that lose to it. */
  readonly others: readonly Operation[];
  /** Heads that never win. */
  readonly yielding: readonly Operation[];
  readonly directoryWins: boolean;
  /** The heads to join. */
  readonly candidates: readonly Operation[];
  /** The heads whose contents get copies. */
  readonly lost: readonly Operation[];
  /** There is something to join now. */
  readonly isDue: boolean;
  /** The heads whose contents must be in history before the join. */
  readonly needed: readonly Operation[];
}

/** The siblings at a path. */
export interface Contested {
  readonly path: string;
  readonly heads: readonly Operation[];
}

/** A content that is to be kept, and where else it may be. */
interface Unkept {
  readonly heads: Operation[];
  readonly sources: Iterator<ContentSource>;
}

/** One attempt to keep a content. */
interface Attempt {
  readonly head: Operation;
  readonly content: ContentId;
  readonly source: ContentSource;
}

/** Number and size of the contents that one job keeps: they bound for how long it delays other work in the background. */
const keptAtOnce = 128;
const keptBytesAtOnce = 16 * 1024 * 1024;

/** Decides what this member does with the siblings at a path. Keeps the contents that lose, and fetches those that are not here. */
export class SiblingJudge {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #transfers: ContentFetcher;
  readonly #responsibility: Responsibility;
  readonly #pacer: JoinPacer;
  readonly #arrived: () => void;

  /** `arrived` is called when a content came that a verdict needed. */
  constructor(
    context: Context,
    parts: {
      readonly peers: Peers;
      readonly transfers: ContentFetcher;
      readonly responsibility: Responsibility;
      readonly pacer: JoinPacer;
      readonly arrived: () => void;
    },
  ) {
    this.#context = context;
    this.#peers = parts.peers;
    this.#transfers = parts.transfers;
    this.#responsibility = parts.responsibility;
    this.#pacer = parts.pacer;
    this.#arrived = parts.arrived;
  }

  /** The verdicts at these paths. `mine` is empty while the content that the join would repeat is not here. */
  async verdicts(contested: readonly Contested[]): Promise<readonly (Verdict & { readonly candidates: number })[]> {
    const ranked = contested.map(({ path, heads }) => this.#rank(path, heads));
    const kept = await this.#keep(ranked.flatMap(({ needed }) => needed));
    const verdicts: (Verdict & { readonly candidates: number })[] = [];
    for (const ranking of ranked) verdicts.push(await this.#verdict(ranking, kept));
    return verdicts;
  }

  /** `kept`: has the heads whose contents are in history. */
  async #verdict(
    { path, heldUp, original, others, yielding, directoryWins, candidates, lost, isDue, needed }: Ranking,
    kept: Pick<ReadonlySet<Operation>, 'has'>,
  ): Promise<Verdict & { readonly candidates: number }> {
    const { journal } = this.#context;
    const [visible] = others;
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
    if (visible === undefined || !isDue) return verdict;
    const isMissing = (head: Operation): boolean => needed.includes(head) && !kept.has(head);
    if (isMissing(visible)) return verdict;
    for (const head of candidates) if (!isMissing(head) && this.#responsibility.includes(head)) mine.push(head);
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

  #rank(path: string, heads: readonly Operation[]): Ranking {
    const { journal, missing } = this.#context;
    const heldUp = journal.heads.hasLiveBelow(path);
    const find: FindOperation = (dot) => journal.log.operation(dot);
    const originals = new Map(heads.map((head) => [head, originalOf(head, find)]));
    const original = (head: Operation): Operation => originals.get(head) ?? head;
    // A content that no member has any more can neither be kept nor copied.
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
    const isDue = candidates.length > 0 && this.#pacer.allows(path, this.#context.clock.monotonicMs());
    const needed: Operation[] = [];
    if (visible !== undefined && isDue) {
      // The join repeats the visible content, and may outlive all other operations with that content.
      if (!directoryWins) needed.push(visible);
      needed.push(...candidates.filter((head) => lost.some((loser) => isSameContent(loser, head))));
    }
    return { path, heldUp, original, others, yielding, directoryWins, candidates, lost, isDue, needed };
  }

  /**
   * Keeps the contents of these heads in history, many together: each alone costs several syncs of the disk. Every member does so until the
   * copy is made. So any of them can make it, and none makes a copy of a content that it lacks. The rows of `disk` may be outdated: a user
   * may have just overwritten the file. Returns the heads whose contents are here; the others are fetched.
   */
  async #keep(heads: readonly Operation[]): Promise<ReadonlySet<Operation>> {
    const kept = new Set<Operation>();
    const open = new Map<ContentId, Unkept>();
    for (const head of heads) {
      const { content } = head;
      const unkept = content && open.get(content);
      if (content === undefined) kept.add(head);
      else if (unkept !== undefined) unkept.heads.push(head);
      else open.set(content, { heads: [head], sources: this.#sources(content) });
    }
    while (open.size > 0) {
      const attempts: Attempt[] = [];
      for (const [content, { heads, sources }] of open) {
        const [head] = heads;
        const { done, value: source } = sources.next();
        if (head !== undefined && done !== true) attempts.push({ head, content, source });
        else {
          open.delete(content);
          if (head !== undefined) this.#fetch(head);
        }
      }
      for (const content of await this.#keepFrom(attempts)) {
        for (const head of open.get(content)?.heads ?? []) kept.add(head);
        open.delete(content);
      }
    }
    return kept;
  }

  /** Keeps each content from one source. Returns those that are in history then. */
  async #keepFrom(attempts: readonly Attempt[]): Promise<readonly ContentId[]> {
    const { folder, receivedBytesCache, log } = this.#context;
    const done: ContentId[] = [];
    for (const some of grouped(attempts)) {
      try {
        const requests = some.map(({ head: { blocks, size = 0 }, content, source }) => ({
          content,
          blocks,
          size,
          source,
        }));
        const outcomes = await folder.keep(requests);
        for (const [index, { content, source }] of some.entries()) {
          if (outcomes[index] !== true) continue;
          done.push(content);
          if (source.from === 'bytes') receivedBytesCache.delete(content);
          if (source.from === 'staged') this.#transfers.drop(content);
        }
      } catch (error) {
        const [first] = some;
        log.warn({ path: first?.head.path, error: String(error) }, 'a losing version could not be kept');
      }
    }
    return done;
  }

  #fetch(head: Operation): void {
    this.#transfers.fetch(head, (outcome) => {
      if (outcome === 'ok') this.#arrived();
    });
  }

  /** A content that is already in history stays as it is. */
  #sources(content: ContentId): Iterator<ContentSource> {
    const staged = (): boolean => this.#transfers.isStaged(content);
    return sourcesHere(this.#context, content, ['history', 'received', 'staged', 'folder'], { staged })[
      Symbol.iterator
    ]();
  }
}

/** Splits attempts into groups for one job each. */
function grouped(attempts: readonly Attempt[]): readonly (readonly Attempt[])[] {
  const groups: Attempt[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const attempt of attempts) {
    const { size = 0 } = attempt.head;
    const last = groups.at(-1);
    if (last !== undefined && last.length < keptAtOnce && bytes + size <= keptBytesAtOnce) {
      last.push(attempt);
      bytes += size;
    } else {
      groups.push([attempt]);
      bytes = size;
    }
  }
  return groups;
}

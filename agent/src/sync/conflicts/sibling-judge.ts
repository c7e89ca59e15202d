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
  /** The visible head, and those that lose to it. */
  readonly others: readonly Operation[];
  /** Heads that never win. */
  readonly yielding: readonly Operation[];
  readonly directoryWins: boolean;
  /** The heads to join. */
  readonly candidates: readonly Operation[];
  /** The heads whose contents get copies. */
  readonly lost: readonly Operation[];
}

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

  /** The verdict at `path`. `mine` is empty while the content that the join would repeat is not here. */
  async verdict(path: string, heads: readonly Operation[]): Promise<Verdict & { readonly candidates: number }> {
    const { journal } = this.#context;
    const heldUp = journal.heads.hasLiveBelow(path);
    const find: FindOperation = (dot) => journal.log.operation(dot);
    const originals = new Map(heads.map((head) => [head, originalOf(head, find)]));
    const original = (head: Operation): Operation => originals.get(head) ?? head;
    const { others, yielding, directoryWins, candidates, lost } = this.#rank(heads, heldUp, original);
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
    if (visible === undefined || candidates.length === 0) return verdict;
    if (!this.#pacer.allows(path, this.#context.clock.monotonicMs())) return verdict;
    // The join repeats the visible content, and may outlive all other operations with that content.
    if (!directoryWins && !(await this.#keep(visible))) return verdict;
    for (const head of candidates) {
      if (lost.some((loser) => isSameContent(loser, head)) && !(await this.#keep(head))) continue;
      if (this.#responsibility.includes(head)) mine.push(head);
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

  #rank(heads: readonly Operation[], heldUp: boolean, original: (head: Operation) => Operation): Ranking {
    const { journal, missing } = this.#context;
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
    return { others, yielding, directoryWins, candidates, lost };
  }

  /**
   * Keeps a losing content in history. Every member does so until the copy is made. So any of them can make it, and none makes a copy of a
   * content that it lacks. The rows of `disk` may be outdated: a user may have just overwritten the file. False if the content is not here:
   * then it is fetched.
   */
  async #keep(head: Operation): Promise<boolean> {
    const { content, blocks, size = 0 } = head;
    if (content === undefined) return true;
    const { folder, receivedBytesCache, log } = this.#context;
    for (const source of this.#sources(content)) {
      try {
        if (!(await folder.keep({ content, blocks, size, source }))) continue;
      } catch (error) {
        log.warn({ path: head.path, error: String(error) }, 'a losing version could not be kept');
        continue;
      }
      if (source.from === 'bytes') receivedBytesCache.delete(content);
      if (source.from === 'staged') this.#transfers.drop(content);
      return true;
    }
    this.#transfers.fetch(head, (outcome) => {
      if (outcome === 'ok') this.#arrived();
    });
    return false;
  }

  /** A content that is already in history stays as it is. */
  #sources(content: ContentId): Iterable<ContentSource> {
    const staged = (): boolean => this.#transfers.isStaged(content);
    return sourcesHere(this.#context, content, ['history', 'received', 'staged', 'folder'], { staged });
  }
}

import type { ContentId, MemberId, MissingMessage } from '@lockstep/shared';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** A content that is searched for, and a path that had it. */
export interface SoughtContent {
  readonly content: ContentId;
  readonly path: string;
}

/** The members that have each content, and those that did not answer. */
export interface SearchResult {
  readonly holders: ReadonlyMap<ContentId, readonly MemberId[]>;
  readonly silent: readonly MemberId[];
}

/** A person waits for the answers; a member that is not heard for longer is silent. */
const answerMsMax = 2_000;

/** The first id of these questions: the ids of requests for blocks ascend from 1, and never get there. */
const firstId = 2 ** 47;

interface Question {
  readonly peer: Peer;
  readonly answered: (has: boolean) => void;
}

/** Asks the other members which of some contents they have, in the folder or in history. */
export class ContentSearch {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #questions = new Map<number, Question>();
  #id = firstId;

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
  }

  /** Asks all members that are connected. Resolves when they have answered, or after two seconds. */
  async search(contents: readonly SoughtContent[]): Promise<SearchResult> {
    const { having, silent } = await this.#ask(contents, {});
    const holders = new Map<ContentId, readonly MemberId[]>();
    for (const [index, members] of having) {
      const content = contents[index]?.content;
      if (content !== undefined) holders.set(content, members);
    }
    return { holders, silent };
  }

  /**
   * Asks all members that are connected, but not `except`, which of these files they show, durably, and do not drop. Resolves with the members
   * by path when all have answered, or after two seconds. Adds to `except` those that were silent: a caller that has many questions does
   * not wait for them each time.
   */
  async searchKeepers(
    files: readonly SoughtContent[],
    except: Set<MemberId> = new Set(),
  ): Promise<ReadonlyMap<string, readonly MemberId[]>> {
    const { having, silent } = await this.#ask(files, { keep: true }, except);
    for (const member of silent) except.add(member);
    const keepers = new Map<string, readonly MemberId[]>();
    for (const [index, members] of having) {
      const path = files[index]?.path;
      if (path !== undefined) keepers.set(path, members);
    }
    return keepers;
  }

  /** The members that answered that they have each content, by its index. */
  async #ask(
    contents: readonly SoughtContent[],
    more: { readonly keep?: true },
    except?: ReadonlySet<MemberId>,
  ): Promise<{ readonly having: ReadonlyMap<number, readonly MemberId[]>; readonly silent: readonly MemberId[] }> {
    const having = new Map<number, MemberId[]>();
    const waiting = new Map<MemberId, number>();
    if (contents.length === 0) return { having, silent: [] };
    const ids: number[] = [];
    await new Promise<void>((resolve) => {
      const expiry = this.#context.clock.after(answerMsMax, resolve);
      const finishIfDone = (): void => {
        if ([...waiting.values()].some((open) => open > 0)) return;
        expiry.cancel();
        resolve();
      };
      for (const peer of this.#peers.ready()) {
        if (except?.has(peer.id)) continue;
        waiting.set(peer.id, contents.length);
        for (const [index, { content, path }] of contents.entries()) {
          const id = this.#id++;
          ids.push(id);
          const answered = (has: boolean): void => {
            waiting.set(peer.id, (waiting.get(peer.id) ?? 0) - 1);
            if (has) having.set(index, [...(having.get(index) ?? []), peer.id]);
            finishIfDone();
          };
          this.#questions.set(id, { peer, answered });
          peer.link?.send({ type: 'want', id, content, index: 0, path, probe: true, ...more });
        }
      }
      finishIfDone();
    });
    for (const id of ids) this.#questions.delete(id);
    const silent = [...waiting].flatMap(([member, open]) => (open > 0 ? [member] : []));
    return { having, silent };
  }

  /** Takes an answer; false if it is none to a question of a search. */
  missing(peer: Peer, { id, lacks }: MissingMessage): boolean {
    return this.#answer(peer, id, !lacks);
  }

  /** A member of an earlier version sends the block; false if that is no answer to a question of a search. */
  block(peer: Peer, id: number): boolean {
    return this.#answer(peer, id, true);
  }

  #answer(peer: Peer, id: number, has: boolean): boolean {
    if (id < firstId) return false;
    const question = this.#questions.get(id);
    if (question?.peer === peer) {
      this.#questions.delete(id);
      question.answered(has);
    }
    return true;
  }
}

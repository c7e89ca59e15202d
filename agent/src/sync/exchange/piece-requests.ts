import { blockTimeoutMs, type ContentId, type MemberId, type WantMessage } from '@lockstep/shared';
import type { Clock } from '../ports/clock.ts';
import type { Link } from '../ports/network.ts';

/** The first id of these requests: those for whole blocks ascend from 1, those of searches from 2⁴⁷. */
const firstId = 2 ** 46;

/** A member that is asked for pieces. */
export interface PieceSource {
  readonly id: MemberId;
  readonly link: Link | undefined;
  /** It said that it is sending blocks to this member. */
  readonly isSending: boolean;
}

interface Question {
  readonly content: ContentId;
  readonly source: PieceSource;
  /** Since when the source has not said that it sends. */
  dueSinceMs: number;
  readonly answered: (bytes: Uint8Array | undefined) => void;
}

/** The requests for recipes and ranges that are open. */
export class PieceRequests {
  readonly #clock: Clock;
  readonly #open = new Map<number, Question>();
  readonly #turns = new WeakMap<PieceSource, Promise<void>>();
  #id = firstId;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks for a recipe or for ranges. Resolves with undefined if the source has no answer, or is gone. */
  ask(source: PieceSource, want: Omit<WantMessage, 'type' | 'id'>): Promise<Uint8Array | undefined> {
    const { link } = source;
    if (link === undefined) return Promise.resolve(undefined);
    return new Promise((answered) => {
      const id = this.#id++;
      this.#open.set(id, { content: want.content, source, dueSinceMs: this.#clock.monotonicMs(), answered });
      link.send({ ...want, type: 'want', id });
    });
  }

  /** Runs `body` after all that was given for this source before: what it asks for must not fill the memory. */
  inTurn(source: PieceSource, body: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(source) ?? Promise.resolve()).then(body);
    this.#turns.set(
      source,
      turn.catch(() => undefined),
    );
    return turn;
  }

  /** Takes an answer, undefined if the source has none. False if the answer is to another request. */
  answer(source: PieceSource, id: number, bytes: Uint8Array | undefined): boolean {
    if (id < firstId) return false;
    const question = this.#open.get(id);
    if (question?.source === source) this.#end(id, question, bytes);
    return true;
  }

  /** Says to the sources that no more of the content is needed. Their answers, which come soon, end the requests. */
  withdraw(content: ContentId): void {
    const ids = new Map<PieceSource, number[]>();
    for (const [id, question] of this.#open) {
      if (question.content !== content) continue;
      ids.set(question.source, [...(ids.get(question.source) ?? []), id]);
    }
    for (const [source, own] of ids) source.link?.send({ type: 'withdraw', ids: own });
  }

  /** Ends the requests to a source whose session has ended. */
  closed(source: PieceSource): void {
    for (const [id, question] of this.#open) if (question.source === source) this.#end(id, question, undefined);
  }

  /** Ends the requests that were not answered in time. Must be called regularly. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, question] of this.#open) {
      if (question.source.isSending) question.dueSinceMs = nowMs;
      if (nowMs - question.dueSinceMs > blockTimeoutMs) this.#end(id, question, undefined);
    }
  }

  #end(id: number, question: Question, bytes: Uint8Array | undefined): void {
    this.#open.delete(id);
    question.answered(bytes);
  }
}

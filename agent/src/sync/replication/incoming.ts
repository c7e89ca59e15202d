import type { Operation, OperationsMessage } from '@lockstep/shared';
import { inlineWaitingBytesMax } from '@lockstep/shared';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Peer } from '../members/peer.ts';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import { isJournalFull } from '../state/disk-room.ts';
import { unjournaledReason } from '../state/session-failures.ts';
import { isWanted } from '../transfer/local-content.ts';

/** A session is closed only this long after its operations found no room: a new session would bring them again at once. */
const noRoomPauseMs = 5_000;

/** The cache of received bytes has room while it holds less than this. */
const roomBytes = inlineWaitingBytesMax / 2;
/** After this many seconds without a confirmation, even needed bytes are dropped: they are requested again later. */
const stuckMax = 5;

/** Number of contents of the cache of received bytes that a sweep checks: while it has room, and while senders wait for room. */
const sweptMin = 256;
const sweptMax = 4_096;

/** Journals received operations, and keeps their bytes until they are applied. */
export class Incoming {
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  /** Frames journaled but not confirmed: the cache of received bytes is full, and the senders wait until some of it is applied. */
  readonly #unconfirmed: { readonly link: Link; readonly id: number }[] = [];
  /** The oldest unconfirmed frame at the last tidying, and for how many calls it has been the same. */
  #stuck: { readonly link: Link; readonly id: number } | undefined;
  #stuckFor = 0;
  /** Sessions that are about to be closed: after an operation that could not be journaled, its successors cannot be journaled either. */
  readonly #refused = new Set<Link>();

  constructor(context: Context, operationWriter: OperationWriter) {
    this.#context = context;
    this.#operationWriter = operationWriter;
    context.facts.applied.on(() => this.confirm());
  }

  /** Journals the operations of a frame, and confirms it once the cache of received bytes has room. */
  operations(peer: Peer, message: OperationsMessage): void {
    const { journal, receivedBytesCache, clock } = this.#context;
    const { link } = peer;
    if (link === undefined || this.#refused.has(link)) return;
    let added: readonly Operation[];
    try {
      added = journal.append(message.carried.map(({ operation }) => operation));
    } catch (error) {
      this.#refuse(peer, link, error);
      return;
    }
    const news = new Set(added);
    for (const { operation, bytes } of message.carried) {
      peer.received.add(bytes?.length ?? 0, clock.monotonicMs());
      if (bytes !== undefined && operation.content !== undefined && news.has(operation)) {
        receivedBytesCache.put(operation.content, bytes);
      }
    }
    for (const operation of added) this.#operationWriter.sawStamp(operation.hlc);
    this.#unconfirmed.push({ link, id: message.id });
    this.confirm();
    if (added.length > 0) this.#context.facts.received.publish(added);
  }

  /**
   * Drops bytes that will not be applied, because their operation was superseded or is already on this disk. Drops any bytes if none
   * could be applied for some time. Otherwise they would fill the cache of received bytes, and no frame would be confirmed any more. Must be called
   * once a second.
   */
  tidy(): void {
    const { receivedBytesCache, journal } = this.#context;
    receivedBytesCache.sweep(this.#hasRoom ? sweptMin : sweptMax, (content) => isWanted(journal, content));
    const first = this.#unconfirmed[0];
    this.#stuckFor = first !== undefined && first === this.#stuck ? this.#stuckFor + 1 : 0;
    this.#stuck = first;
    if (this.#stuckFor >= stuckMax) receivedBytesCache.shrink(roomBytes);
    this.confirm();
  }

  /** Confirms frames while there is room for more. */
  confirm(): void {
    while (this.#unconfirmed.length > 0 && this.#hasRoom) {
      const { link, id } = this.#unconfirmed.shift() as { link: Link; id: number };
      link.send({ type: 'received', id });
    }
  }

  get #hasRoom(): boolean {
    return this.#context.receivedBytesCache.bytes < roomBytes;
  }

  /** Whether frames of this session are not confirmed yet: its other side may be waiting for that. */
  owes(link: Link | undefined): boolean {
    return this.#unconfirmed.some((frame) => frame.link === link);
  }

  /** Drops the state of a session that ended. */
  closed(link: Link): void {
    this.#refused.delete(link);
    const open = this.#unconfirmed.filter((frame) => frame.link !== link);
    this.#unconfirmed.splice(0, this.#unconfirmed.length, ...open);
  }

  #refuse(peer: Peer, link: Link, error: unknown): void {
    const { clock, log, self } = this.#context;
    const isFull = isJournalFull(error);
    const close = (): void => link.close(unjournaledReason(self.name, error), !isFull);
    log.error({ peer: peer.id, error: String(error) }, 'operations could not be journaled');
    this.#refused.add(link);
    if (isFull) clock.after(noRoomPauseMs, close);
    else close();
  }
}

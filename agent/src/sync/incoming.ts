import type { Operation, OperationsMessage } from '@lockstep/shared';
import { inlineWaitingBytesMax, LockstepError } from '@lockstep/shared';
import type { Context } from './context.ts';
import type { OwnLog } from './own-log.ts';
import type { Peer } from './peers.ts';
import type { Link } from './ports/network.ts';

/** A session whose operations find no room is kept up for this long: opened anew it would bring the same ones at once. */
const noRoomPauseMs = 5_000;

/** Journals the operations that come in, and keeps the bytes that came along until they are applied. */
export class Incoming {
  readonly #context: Context;
  readonly #ownLog: OwnLog;
  readonly #arrived: (operations: readonly Operation[], from: Peer) => void;
  /** Frames journaled but not confirmed: the inbox is full, and the senders wait until some of it is applied. */
  readonly #unconfirmed: { readonly link: Link; readonly id: number }[] = [];
  /** Sessions that are about to be closed: after an operation that could not be journaled, those that follow cannot be either. */
  readonly #refused = new Set<Link>();

  constructor(context: Context, ownLog: OwnLog, arrived: (operations: readonly Operation[], from: Peer) => void) {
    this.#context = context;
    this.#ownLog = ownLog;
    this.#arrived = arrived;
  }

  operations(peer: Peer, message: OperationsMessage): void {
    const { journal, inbox, clock } = this.#context;
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
        inbox.put(operation.content, bytes);
      }
    }
    for (const operation of added) this.#ownLog.sawStamp(operation.hlc);
    this.#unconfirmed.push({ link, id: message.id });
    this.confirm();
    if (added.length > 0) this.#arrived(added, peer);
  }

  /** Confirms frames while there is room for more. */
  confirm(): void {
    while (this.#unconfirmed.length > 0 && this.#context.inbox.bytes < inlineWaitingBytesMax / 2) {
      const { link, id } = this.#unconfirmed.shift() as { link: Link; id: number };
      link.send({ type: 'received', id });
    }
  }

  /** Whether frames of this session are not confirmed yet: its other side may be waiting for that. */
  owes(link: Link | undefined): boolean {
    return this.#unconfirmed.some((frame) => frame.link === link);
  }

  /** Forgets a session that ended: confirmations for it are of no use to anybody. */
  closed(link: Link): void {
    this.#refused.delete(link);
    const open = this.#unconfirmed.filter((frame) => frame.link !== link);
    this.#unconfirmed.splice(0, this.#unconfirmed.length, ...open);
  }

  #refuse(peer: Peer, link: Link, error: unknown): void {
    const { clock, log } = this.#context;
    const close = (): void => link.close(`operations could not be journaled: ${String(error)}`);
    log.error({ peer: peer.id, error: String(error) }, 'operations could not be journaled');
    this.#refused.add(link);
    if (error instanceof LockstepError && error.code === 'journal-full') clock.after(noRoomPauseMs, close);
    else close();
  }
}

import type { Operation, OperationsMessage } from '@lockstep/shared';
import { inlineWaitingBytesMax } from '@lockstep/shared';
import type { Context } from './context.ts';
import type { OwnLog } from './own-log.ts';
import type { Peer } from './peers.ts';
import type { Link } from './ports/network.ts';

/** Journals the operations that come in, and keeps the bytes that came along until they are applied. */
export class Incoming {
  readonly #context: Context;
  readonly #ownLog: OwnLog;
  readonly #arrived: (operations: readonly Operation[], from: Peer) => void;
  /** Frames journaled but not confirmed: the inbox is full, and the senders wait until some of it is applied. */
  readonly #unconfirmed: { readonly link: Link; readonly id: number }[] = [];

  constructor(context: Context, ownLog: OwnLog, arrived: (operations: readonly Operation[], from: Peer) => void) {
    this.#context = context;
    this.#ownLog = ownLog;
    this.#arrived = arrived;
  }

  operations(peer: Peer, message: OperationsMessage): void {
    const { journal, inbox, log } = this.#context;
    const { link } = peer;
    if (link === undefined) return;
    let added: readonly Operation[];
    try {
      added = journal.append(message.carried.map(({ operation }) => operation));
    } catch (error) {
      log.error({ peer: peer.id, error: String(error) }, 'operations could not be journaled');
      link.close(`operations could not be journaled: ${String(error)}`);
      return;
    }
    const news = new Set(added);
    for (const { operation, bytes } of message.carried) {
      peer.receivedBytes += bytes?.length ?? 0;
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

  /** Confirmations for sessions that ended are of no use to anybody. */
  closed(link: Link): void {
    const open = this.#unconfirmed.filter((frame) => frame.link !== link);
    this.#unconfirmed.splice(0, this.#unconfirmed.length, ...open);
  }
}

import type { Dot, ForkMessage, Operation, OriginId, VersionVector } from '@lockstep/shared';
import { memberOf } from '@lockstep/shared';
import { forkNumbers, markAt, packMarks } from '../../core/marks.ts';
import type { Context } from '../state/context.ts';
import type { OperationWriter } from './operation-writer.ts';
import type { OwnOrigin } from './own-origin.ts';
import type { Peer } from './peer.ts';
import type { Peers } from './peers.ts';

/**
 * Repairs origins whose log forked: two members have different operations under the same numbers, because a machine was restored from a
 * snapshot and numbered on. The origin is sealed at the last number on which both agree. Every member cuts off its operations above that, and
 * journals the entries again as its own operations. So both branches merge as ordinary concurrent edits.
 */
export class Forks {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #operationWriter: OperationWriter;
  readonly #ownOrigin: OwnOrigin;

  constructor(
    context: Context,
    parts: {
      readonly peers: Peers;
      readonly operationWriter: OperationWriter;
      readonly ownOrigin: OwnOrigin;
    },
  ) {
    this.#context = context;
    this.#peers = parts.peers;
    this.#operationWriter = parts.operationWriter;
    this.#ownOrigin = parts.ownOrigin;
    context.facts.received.on((operations) => {
      for (const operation of operations) this.#checkOwnNumber(operation);
      this.sealContradicted();
    });
  }

  /** Sends `peer` the chain of `origin` here, so that it finds the number of the fork. */
  report(peer: Peer, origin: OriginId): void {
    this.#context.log.warn({ origin, peer: peer.id }, 'a peer has other operations under the same numbers');
    this.#sendChain(peer, origin);
  }

  /** Sends `peer` the chains of all origins, regardless of its marks: it seals those whose chain differs there. */
  compareAll(peer: Peer): void {
    for (const origin of Object.keys(this.#context.journal.log.known()) as OriginId[]) this.#sendChain(peer, origin);
  }

  #sendChain(peer: Peer, origin: OriginId): void {
    const { journal } = this.#context;
    const last = Math.min(journal.log.known()[origin] ?? 0, peer.known[origin] ?? 0);
    const seqs = forkNumbers(last);
    const marks = packMarks(seqs.map((seq) => journal.log.mark(origin, seq) ?? ''));
    peer.link?.send({ type: 'fork', origin, seqs, marks });
  }

  /** Handles a peer's report that the log of an origin differs there. */
  reported(peer: Peer, { origin, seqs, marks }: ForkMessage): void {
    const { journal } = this.#context;
    const known = journal.log.known()[origin] ?? 0;
    const place = seqs.findIndex(
      (seq, index) => seq <= known && journal.log.mark(origin, seq) === markAt(marks, index),
    );
    const agreed = place === -1 ? 0 : (seqs[place] ?? 0);
    // The reporting peer may not know a seal that was set in the meantime.
    if (agreed < known) this.seal({ [origin]: agreed });
    peer.link?.send({ type: 'sealed', origins: journal.seals.all() });
  }

  /** Seals origins at these numbers. Synchronous: the repair is complete when it returns. */
  seal(origins: VersionVector): void {
    const { journal } = this.#context;
    let changed = false;
    for (const [origin, last] of Object.entries(origins) as [OriginId, number][]) {
      if ((journal.seals.all()[origin] ?? Number.POSITIVE_INFINITY) <= last) continue;
      changed = true;
      this.#sealOne(origin, last);
    }
    if (changed) this.#peers.broadcast({ type: 'sealed', origins: journal.seals.all() });
  }

  /**
   * Seals each origin of which an operation here names a number for which its author had another operation. So a fork is noticed even if
   * no member that has the other branch ever comes back.
   */
  sealContradicted(): void {
    const { journal } = this.#context;
    for (const { named, by } of journal.namedMarks.contradictions()) {
      const operation = journal.log.operation(by);
      // One seal may end several contradictions.
      if (operation === undefined || named.seq > (journal.seals.all()[named.origin] ?? named.seq)) continue;
      this.seal({ [named.origin]: this.#lastCommon(operation, named) });
    }
  }

  /** Begins a new incarnation if `operation` names a number of this member that it does not know: it was set back since. */
  #checkOwnNumber(operation: Operation): void {
    const { journal } = this.#context;
    const { origin } = journal;
    const seq = operation.version.vector[origin] ?? 0;
    const known = journal.log.known()[origin] ?? 0;
    if (operation.origin === origin || seq <= known) return;
    const last = this.#lastCommon(operation, { origin, seq: known + 1 });
    if (last < known) this.seal({ [origin]: last });
    else this.#ownOrigin.renew();
  }

  /** The number of the last operation before `named` that is not stamped later than `operation`: both branches may have it. */
  #lastCommon(operation: Operation, { origin, seq }: Dot): number {
    let last = seq - 1;
    while (last > 0 && (this.#context.journal.log.operation({ origin, seq: last })?.hlc ?? 0) > operation.hlc)
      last -= 1;
    return last;
  }

  #sealOne(origin: OriginId, last: number): void {
    const { journal, log } = this.#context;
    const before = journal.log.known()[origin] ?? 0;
    const repeated = journal.transaction(() => {
      // Numbers above the seal are refused by all: this member's next operation needs another origin.
      if (origin === journal.origin) this.#ownOrigin.renew();
      const operations = journal.seal(origin, last);
      this.#operationWriter.repeat(operations);
      return operations.length;
    });
    log.warn({ origin, last, cut: Math.max(0, before - last), repeated }, 'the log of an origin forked, and is sealed');
    const member = memberOf(origin);
    this.#context.events.add('forked', {
      member,
      name: this.#peers.nameOf(member),
      operations: Math.max(0, before - last),
    });
  }
}

import {
  type ContentId,
  type FlippedMessage,
  flippedShareMax,
  type HoldingsMessage,
  type MemberId,
  type RetellMessage,
} from '@lockstep/shared';
import { CountedHoldings } from '../../core/cache/counted-holdings.ts';
import { differingPositions, HoldingsFilter } from '../../core/cache/holdings-filter.ts';
import { isAtOrBefore } from '../../core/cache/path-order.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { ContentWatcher } from '../ports/journal.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;
const retryMs = 1_000;

/**
 * Tells the other members which contents are on the disk of this one, if it fetches on demand: the whole filter when a session begins and
 * when it was made again, and once a second which bits have changed. Nothing is sent if none has. Takes what the others tell.
 */
export class HoldingsLoop implements ContentWatcher {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #loop: TaskLoop;
  #counted = new CountedHoldings(0);
  /** While the filter is made: the path up to which the rows are counted. */
  #upTo: string | undefined = '';
  /** A rollback undid changes that were counted. */
  #isStale = false;
  #hasChanged = false;
  /** The bits that all members in `#told` have. It is never changed, as it may wait to be sent. */
  #sent: Uint8Array | undefined;
  /** The number of the state that they have. */
  #seq = 0;
  readonly #told = new Set<MemberId>();
  /** Those that asked for the whole filter. */
  readonly #asking = new Set<MemberId>();

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#make(),
      failed: (error) =>
        context.log.error({ error: String(error) }, 'the filter of the contents here could not be made'),
      retryMs,
    });
    if (context.self.onDemand !== true) return;
    const { sessionOpened, sessionClosed, second } = context.facts;
    sessionOpened.on((member) => {
      this.#told.add(member);
      this.#sendWhole([member]);
    });
    sessionClosed.on((member) => {
      this.#told.delete(member);
      this.#asking.delete(member);
    });
    second.on(() => this.#tell());
  }

  start(): void {
    if (this.#context.self.onDemand !== true) return;
    this.#context.journal.disk.watch(this);
    this.#loop.poke();
  }

  stop(): void {
    this.#loop.stop();
  }

  /**
   * Handles the messages of another member about holdings. If a message does not follow the one before, its holdings are forgotten and
   * asked for again.
   */
  received(peer: Peer, message: HoldingsMessage | FlippedMessage | RetellMessage): void {
    if (message.type === 'retell') {
      // Once a second at most.
      if (this.#told.has(peer.id)) this.#asking.add(peer.id);
    } else if (peer.hello?.onDemand !== true) {
      peer.link?.close(`invalid message: ${message.type} comes from a member with the whole folder`, true);
    } else if (message.type === 'holdings') {
      peer.holdings = message.bits.length === 0 ? undefined : new HoldingsFilter(message.seq, message.bits);
      peer.lastHoldings = undefined;
    } else if (!peer.holdings?.flip(message.seq, message.positions)) {
      peer.holdings = undefined;
      peer.link?.send({ type: 'retell' });
    }
  }

  changed(path: string, before: ContentId | undefined, now: ContentId | undefined): void {
    // The rows behind are counted as they are when it is their turn.
    if (this.#upTo !== undefined && !isAtOrBefore(path, this.#upTo)) return;
    if (before !== undefined) this.#counted.remove(before);
    if (now !== undefined) this.#counted.add(now);
    this.#hasChanged = true;
  }

  rolledBack(): void {
    this.#isStale = true;
  }

  /** Makes the filter from the rows of the disk, in a size that is right for them, and sends it. */
  async #make(): Promise<void> {
    const { journal, clock } = this.#context;
    const yielder = new Yielder(clock);
    let { files } = journal.totals.counts().disk;
    do {
      this.#isStale = false;
      this.#counted = new CountedHoldings(files);
      this.#upTo = '';
      for (;;) {
        const rows = journal.disk.below('', this.#upTo === '' ? undefined : this.#upTo, rowsAtOnce);
        for (const { content } of rows) if (content !== undefined) this.#counted.add(content);
        const last = rows.at(-1);
        if (last === undefined || rows.length < rowsAtOnce) break;
        this.#upTo = last.path;
        await yielder.maybeYield();
        if (this.#loop.isStopped) return;
      }
      this.#upTo = undefined;
      // Damaged files have no content, and others came meanwhile.
      files = this.#counted.files;
    } while (this.#isStale || this.#counted.isUnfit);
    this.#hasChanged = false;
    this.#seq++;
    this.#sent = this.#counted.bits();
    this.#sendWhole(this.#told);
  }

  #tell(): void {
    if (this.#upTo !== undefined || this.#loop.isStopped) return;
    if (this.#isStale || this.#counted.isUnfit) {
      this.#loop.poke();
      return;
    }
    this.#sendWhole(this.#asking);
    if (this.#hasChanged) this.#tellChanges();
  }

  #tellChanges(): void {
    this.#hasChanged = false;
    const before = this.#sent;
    const bits = this.#counted.bits();
    // It is empty if there are more files than a filter can tell.
    const positions = before?.length === bits.length ? differingPositions(before, bits) : undefined;
    if (positions?.length === 0) return;
    this.#seq++;
    this.#sent = bits;
    const isShort = positions !== undefined && positions.length <= bits.length * 8 * flippedShareMax;
    if (isShort) this.#send(this.#told, { type: 'flipped', seq: this.#seq, positions });
    else this.#sendWhole(this.#told);
  }

  #sendWhole(members: Iterable<MemberId>): void {
    if (this.#sent === undefined) return;
    this.#send(members, { type: 'holdings', seq: this.#seq, bits: this.#sent });
    for (const member of members) this.#asking.delete(member);
  }

  #send(members: Iterable<MemberId>, message: HoldingsMessage | FlippedMessage): void {
    for (const member of members) this.#peers.get(member)?.link?.send(message);
  }
}

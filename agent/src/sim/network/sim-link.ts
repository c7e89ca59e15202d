import {
  type BulkLane,
  inlineBytesMax,
  type Lane,
  laneOf,
  type MemberId,
  type PeerMessage,
  sendQueueBytesMax,
} from '@lockstep/shared';
import type { Link, LinkReceiver } from '../../sync/ports/network.ts';
import { realBytesIn } from '../base/filler.ts';
import type { Life } from '../base/life.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Uplink } from './uplink.ts';

/** The first overtakes the others. */
const lanes: readonly Lane[] = ['signals', 'operations', 'blocks'];
/** Keeps two arrivals in order that would otherwise be at the same time. */
const momentMs = 0.001;

/** The present behaviour of the medium between two members. */
export interface Route {
  /** Drawn for each message. Messages of one lane still arrive in order. */
  delayMs(): number;
  /** The rate at which bytes leave a send queue. */
  readonly bytesPerMs: number;
  /** Nothing arrives, without an error: messages in transit wait until the route heals. */
  readonly silent: boolean;
}

/** Converts a message for transmission, so that the receiver cannot change an object of the sender. */
export type Carrier = (message: PeerMessage) => PeerMessage;

interface EndOptions {
  readonly scheduler: Scheduler;
  readonly life: Life;
  readonly peer: MemberId;
  readonly dialled: boolean;
  readonly remote: string;
  readonly route: Route;
  readonly carrier: Carrier;
  /** The line of the sender, if its rate is that of all its sessions together. */
  readonly uplink?: Uplink | undefined;
  /** Called with each delivered message. */
  readonly arrived: (message: PeerMessage) => void;
}

/** One side of a simulated session. */
export class SimLink implements Link {
  readonly peer: MemberId;
  readonly dialled: boolean;
  readonly remote: string;
  readonly #options: EndOptions;
  #other: SimLink | undefined;
  #receiver: LinkReceiver | undefined;
  #early: PeerMessage[] = [];
  /** Messages from the other side that have not arrived, in order. An `undefined` is its goodbye. */
  readonly #inTransit = new Map<Lane, (PeerMessage | 'withdrawn' | undefined)[]>(lanes.map((lane) => [lane, []]));
  /** Arrivals that a silent route delays. */
  #held: Lane[] = [];
  /** Sizes of the messages in the send queue, and the times at which they leave it. */
  #queue: {
    readonly lane: Lane;
    readonly startsAtMs: number;
    readonly leavesAtMs: number;
    readonly bytes: number;
    readonly message: PeerMessage;
  }[] = [];
  readonly #lastArrivalMs = new Map<Lane, number>();
  #receivedBytes = 0;
  #endReason: string | undefined;
  #isFault = false;
  #goodbye = { reason: '', isFault: false };
  #isEndReported = false;

  constructor(options: EndOptions) {
    this.peer = options.peer;
    this.dialled = options.dialled;
    this.remote = options.remote;
    this.#options = options;
  }

  /** Connects the two sides. */
  static join(a: SimLink, b: SimLink): void {
    a.#other = b;
    b.#other = a;
  }

  get isOpen(): boolean {
    return this.#endReason === undefined && this.#options.life.alive;
  }

  send(message: PeerMessage): void {
    this.#options.life.effect();
    if (this.#endReason !== undefined) return;
    const { scheduler, route, carrier, uplink } = this.#options;
    const bytes = uplink === undefined ? weightOf(message) : fullWeightOf(message);
    const startsAtMs = Math.max(scheduler.nowMs, this.#queue.at(-1)?.leavesAtMs ?? 0);
    const leavesAtMs = uplink?.send(bytes, scheduler.nowMs) ?? startsAtMs + bytes / route.bytesPerMs;
    this.#prune();
    const lane = laneOf(message.type);
    const carried = carrier(message);
    this.#queue.push({
      lane,
      startsAtMs: leavesAtMs - bytes / (uplink ?? route).bytesPerMs,
      leavesAtMs,
      bytes,
      message: carried,
    });
    // Signals do not wait for queued messages.
    this.#transmit(carried, lane, lane === 'signals' ? scheduler.nowMs : leavesAtMs);
  }

  /** The time of the dropped blocks on the line is not given to others. */
  withdraw(ids: ReadonlySet<number>): readonly number[] {
    this.#prune();
    const other = this.#other;
    const inTransit = other === undefined ? [] : (other.#inTransit.get('blocks') ?? []);
    const { nowMs } = this.#options.scheduler;
    const dropped: number[] = [];
    for (const { message, startsAtMs } of this.#queue) {
      if (message.type !== 'block' || !ids.has(message.id) || startsAtMs <= nowMs) continue;
      const place = inTransit.indexOf(message);
      if (place < 0) continue;
      inTransit[place] = 'withdrawn';
      dropped.push(message.id);
    }
    this.#queue = this.#queue.filter(({ message }) => message.type !== 'block' || !dropped.includes(message.id));
    return dropped;
  }

  receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** A message arrives whole. */
  partialBlockBytes(): number {
    return 0;
  }

  queuedBytes(lane?: BulkLane): number {
    this.#prune();
    return this.#queue.reduce((sum, entry) => sum + (lane === undefined || entry.lane === lane ? entry.bytes : 0), 0);
  }

  whenDrained(lane: BulkLane, run: () => void): void {
    if (this.#endReason !== undefined) return;
    const { scheduler, life } = this.#options;
    let bytes = this.queuedBytes(lane);
    if (bytes < sendQueueBytesMax / 2) {
      run();
      return;
    }
    for (const entry of this.#queue) {
      if (entry.lane === lane) bytes -= entry.bytes;
      if (bytes >= sendQueueBytesMax / 2) continue;
      scheduler.after(entry.leavesAtMs - scheduler.nowMs, () => this.whenDrained(lane, run), life);
      return;
    }
  }

  whenSent(run: () => void): void {
    if (this.#endReason !== undefined) return;
    const { scheduler, life } = this.#options;
    this.#prune();
    const last = this.#queue.at(-1);
    if (last === undefined) run();
    else scheduler.after(last.leavesAtMs - scheduler.nowMs, () => this.whenSent(run), life);
  }

  start(receiver: LinkReceiver): void {
    if (this.#receiver !== undefined) throw new Error('The link has been started already.');
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    for (const message of early) {
      if (this.#endReason !== undefined) break;
      this.#hand(receiver, message);
    }
    this.#reportEnd();
  }

  close(reason: string, isFault = false): void {
    this.#options.life.effect();
    if (this.#endReason !== undefined) return;
    if (this.#other !== undefined) this.#other.#goodbye = { reason, isFault };
    this.#transmit(undefined, 'blocks', this.#queue.at(-1)?.leavesAtMs ?? 0);
    this.#end(reason, isFault);
  }

  /** Breaks the connection: this side is notified now, and messages in transit are lost. */
  breakOff(reason: string): void {
    if (this.#endReason !== undefined || !this.#options.life.alive) return;
    this.#early = [];
    this.#end(reason, false);
  }

  /** The route is no longer silent: delayed messages arrive. */
  resume(): void {
    const { scheduler, life } = this.#options;
    const held = this.#held.splice(0);
    const arrive = () => {
      for (const lane of held) this.#arrive(lane);
    };
    scheduler.after(0, arrive, life);
  }

  /** A message never arrives before an earlier one of its own lane or a faster one. */
  #transmit(message: PeerMessage | undefined, lane: Lane, leavesAtMs: number): void {
    const other = this.#other;
    if (other === undefined) return;
    const { scheduler, route } = this.#options;
    const notBefore = lanes.slice(0, lanes.indexOf(lane) + 1).map((earlier) => this.#lastArrivalMs.get(earlier) ?? 0);
    const arrivesAtMs = Math.max(
      Math.max(...notBefore) + momentMs,
      Math.max(leavesAtMs, scheduler.nowMs) + route.delayMs(),
    );
    this.#lastArrivalMs.set(lane, arrivesAtMs);
    other.#inTransit.get(lane)?.push(message);
    scheduler.after(arrivesAtMs - scheduler.nowMs, () => other.#arrive(lane), other.#options.life);
  }

  /** Delivers the first message of the lane, in the order of sending. */
  #arrive(lane: Lane): void {
    if (this.#options.route.silent) {
      this.#held.push(lane);
      return;
    }
    const message = this.#inTransit.get(lane)?.shift();
    if (this.#endReason !== undefined) return;
    if (message === 'withdrawn') return;
    if (message === undefined) this.#end(this.#goodbye.reason, this.#goodbye.isFault);
    else if (this.#receiver === undefined) this.#early.push(message);
    else this.#hand(this.#receiver, message);
  }

  #hand(receiver: LinkReceiver, message: PeerMessage): void {
    this.#receivedBytes += fullWeightOf(message);
    this.#options.arrived(message);
    receiver.message(message);
  }

  #end(reason: string, isFault: boolean): void {
    this.#endReason = reason;
    this.#isFault = isFault;
    this.#queue = [];
    this.#reportEnd();
  }

  /** Asynchronous, so that the caller of `close` is done before its receiver is notified. */
  #reportEnd(): void {
    const { scheduler, life } = this.#options;
    const receiver = this.#receiver;
    const reason = this.#endReason;
    if (receiver === undefined || reason === undefined || this.#isEndReported) return;
    this.#isEndReported = true;
    scheduler.after(0, () => receiver.closed(reason, this.#isFault), life);
  }

  #prune(): void {
    const { nowMs } = this.#options.scheduler;
    while (this.#queue[0] !== undefined && this.#queue[0].leavesAtMs <= nowMs) this.#queue.shift();
  }
}

const messageBytes = 100;

/** The approximate size of a message on the wire. */
function weightOf(message: PeerMessage): number {
  // Only the first bytes of a large block are real, and the rest costs nothing, also if only a part of the block is sent.
  if (message.type === 'block')
    return messageBytes + (message.bytes.length > inlineBytesMax ? 0 : realBytesIn(message.bytes));
  if (message.type !== 'operations') return messageBytes;
  return message.carried.reduce((sum, { bytes }) => sum + messageBytes + (bytes?.length ?? 0), messageBytes);
}

/** The same, with all bytes of a large block. */
function fullWeightOf(message: PeerMessage): number {
  return message.type === 'block' ? messageBytes + message.bytes.length : weightOf(message);
}

import {
  type HeartbeatMessage,
  type HelloMessage,
  type MemberId,
  type Operation,
  type OriginId,
  originId,
  type PeerMessage,
  type VersionVector,
} from '@lockstep/shared';
import { onTestFinished } from 'vitest';
import { Life } from '../../src/sim/base/life.ts';
import { Random } from '../../src/sim/base/random.ts';
import { Scheduler } from '../../src/sim/base/scheduler.ts';
import { SimClock, WallClock, worldBeganMs } from '../../src/sim/base/sim-clock.ts';
import { Volume } from '../../src/sim/disk/volume.ts';
import { idleWitness, openSimFolder } from '../../src/sim/folder/sim-folder.ts';
import { openJournal } from '../../src/store/journal.ts';
import { createEngine, type Engine } from '../../src/sync/engine.ts';
import type { Journal } from '../../src/sync/ports/journal.ts';
import type { Link } from '../../src/sync/ports/network.ts';
import { silentLog } from './networks.ts';

/** No marks: the peer sends no chains, so none are compared. */
export const noMarks = new Uint8Array(0);

type Receiver = Parameters<Link['start']>[0];

/**
 * A member controlled by the test, over a link without loss. It simulates faulty, lying or hanging members. Otherwise it sends
 * `hello` and answers heartbeats, each with one of its own.
 */
export class ScriptedPeer {
  readonly id: MemberId;
  readonly origin: OriginId;
  readonly address: string;
  /** The version vector that it claims to know. */
  known: VersionVector = {};
  /** When it became active: members that are active longer are asked first. */
  enabledAt = 1;
  /** It fetches contents on demand. */
  onDemand = false;
  /** False: it stays connected, but sends nothing unprompted. */
  beats = true;
  /** The number of bytes of an incomplete message from it that the member has received. */
  partialBytes = 0;
  readonly heard: PeerMessage[] = [];
  /** The reasons why its sessions ended. */
  readonly ends: string[] = [];
  /** An additional handler of received messages. */
  answer: (message: PeerMessage) => void = () => {};
  /** The bytes of the blocks that it has sent. */
  #saidBytes = 0;
  readonly #inTransit: (() => void)[] = [];
  #scheduler: Scheduler | undefined;
  #receiver: Receiver | undefined;

  constructor(letter: string) {
    this.id = letter.repeat(52) as MemberId;
    this.origin = originId(this.id, 'aaaaaaaa');
    this.address = `${letter}.test:1`;
  }

  /** The received messages of one type. */
  all<T extends PeerMessage['type']>(type: T): Extract<PeerMessage, { type: T }>[] {
    return this.heard.filter((message): message is Extract<PeerMessage, { type: T }> => message.type === type);
  }

  say(message: PeerMessage): void {
    const receiver = this.#receiver;
    this.#deliver(() => {
      if (message.type === 'block') this.#saidBytes += message.bytes.length;
      if (this.#receiver === receiver) receiver?.message(message);
    });
  }

  /** Its operations from `first` on, `count` of them, as one frame; what it says of itself goes with them. */
  sayOperations(operations: readonly Operation[]): void {
    this.say({
      type: 'operations',
      id: operations[0]?.seq ?? 0,
      carried: operations.map((operation) => ({ operation })),
    });
  }

  hello(): HelloMessage {
    const { origin, known, enabledAt } = this;
    const applied = { vector: known, ranges: {} };
    return {
      type: 'hello',
      name: this.address,
      addresses: [],
      origin,
      known,
      marks: noMarks,
      applied,
      sealed: {},
      state: 'active',
      enabledAt,
      software: '0',
      ...(this.onDemand && { onDemand: true as const }),
    };
  }

  heartbeat(): HeartbeatMessage {
    const { known, enabledAt } = this;
    const wallMs = worldBeganMs + (this.#scheduler?.nowMs ?? 0);
    const bytes = { bytes: 0, totalBytes: 0, missingBytes: 0, freeBytes: 0 };
    const numbers = { id: 1, wallMs, pending: 0, files: 0, ...bytes, load: 0, problems: 0 };
    const applied = { vector: known, ranges: {} };
    return {
      type: 'heartbeat',
      ...numbers,
      state: 'active',
      enabledAt,
      known,
      marks: noMarks,
      applied,
      digest: '0'.repeat(16),
      latenciesMs: {},
    };
  }

  /** Opens a new session; returns the member's end of it. */
  open(scheduler: Scheduler): Link {
    this.#scheduler = scheduler;
    return {
      peer: this.id,
      dialled: true,
      remote: this.address,
      send: (message) => this.#deliver(() => this.#hear(message)),
      receivedBytes: () => this.#saidBytes + this.partialBytes,
      partialBlockBytes: () => this.partialBytes,
      queuedBytes: () => 0,
      withdraw: () => [],
      whenDrained: (_lane, run) => run(),
      whenSent: (run) => run(),
      start: (receiver) => {
        this.#receiver = receiver;
        this.say(this.hello());
      },
      close: (reason) => this.end(reason),
    };
  }

  /** Ends the session. */
  end(reason: string): void {
    const receiver = this.#receiver;
    if (receiver === undefined) return;
    this.#receiver = undefined;
    this.ends.push(reason);
    this.#scheduler?.after(0, () => receiver.closed(reason, false));
  }

  /** Delivers in the order of sending, whatever order the scheduler chooses for tasks that are due at the same time. */
  #deliver(arrive: () => void): void {
    this.#inTransit.push(arrive);
    this.#scheduler?.after(1, () => this.#inTransit.shift()?.());
  }

  #hear(message: PeerMessage): void {
    if (this.#receiver === undefined) return;
    this.heard.push(message);
    if ((message.type === 'heartbeat' || message.type === 'pulse') && this.beats) {
      this.say({ ...this.heartbeat(), echo: { id: message.id, heldMs: 0 } });
    }
    this.answer(message);
  }
}

/** A real member with simulated time, disk and network, and scripted peers. */
export interface TestMember {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly volume: Volume;
  readonly scheduler: Scheduler;
  readonly wall: WallClock;
  /** Lets time pass until the condition holds; returns false if it does not within `ms`. */
  until(condition: () => boolean, ms: number): Promise<boolean>;
}

/** Makes a member with an empty journal that knows the addresses of these peers. It is not started. */
export function openTestMember(peers: readonly ScriptedPeer[], more: { readonly onDemand?: true } = {}): TestMember {
  const random = new Random(7);
  const scheduler = new Scheduler(random.fork());
  const life = new Life();
  const wall = new WallClock(scheduler, 0);
  const wallMs = () => wall.preciseMs();
  const volume = new Volume({ wallMs });
  const id = 'z'.repeat(52) as MemberId;
  const journal = openJournal({ path: ':memory:', memberId: id, random: () => random.unit(), nowMs: wallMs });
  const watch = { delayMsMax: 1, overflowChance: 0 };
  const engine = createEngine({
    identity: { id, name: 'zoe', addresses: ['zoe.test:1'], ...more },
    peers: peers.map(({ address }) => address),
    journal,
    folder: openSimFolder({
      memberName: 'ant',
      volume,
      scheduler,
      random,
      life,
      wall,
      watch,
      callMsMax: 0.1,
      canSyncFileSystem: true,
      witness: idleWitness,
    }),
    network: {
      dial: async (address) => {
        const peer = peers.find((known) => known.address === address);
        if (peer === undefined) throw new Error(`No member answers at ${address}.`);
        return peer.open(scheduler);
      },
      onLink: () => {},
      onRefused: () => {},
    },
    clock: new SimClock({ scheduler, wall, random, life }),
    log: silentLog,
  });
  onTestFinished(() => {
    life.end();
    journal.close();
  });
  const until = async (condition: () => boolean, ms: number): Promise<boolean> =>
    (await scheduler.run(scheduler.nowMs + ms, condition)) === 'condition';
  return { engine, journal, volume, scheduler, wall, until };
}

/** Directories that `peer` made, one for each number from `first` to `last`, named by it. */
export function directoriesOf({ origin }: ScriptedPeer, first: number, last: number): readonly Operation[] {
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const seq = first + index;
    return {
      origin,
      seq,
      hlc: seq * 1024,
      kind: 'mkdir',
      path: `${origin.slice(0, 1)}${seq}`,
      mode: 0o755,
      version: { vector: { [origin]: seq } },
    };
  });
}

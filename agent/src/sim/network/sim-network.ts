import { handshakeTimeoutMs, LockstepError, type MemberId, type PeerMessage } from '@lockstep/shared';
import type { Link, Network } from '../../sync/ports/network.ts';
import type { Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { type Carrier, type Route, SimLink } from './sim-link.ts';
import type { Uplink } from './uplink.ts';

/** `refused`: sessions break and dials fail at once. `silent`: messages get lost without an error. */
export type Cut = 'refused' | 'silent';

/** The behaviour of the network in a run. */
export interface NetworkConduct {
  /** The shortest latency between two members, one way. */
  readonly delayMsMin?: number | undefined;
  /** The longest latency between two members, one way, beyond the shortest. Each pair has its own limit below it. */
  readonly delayMsMax: number;
  readonly bytesPerMs: number;
}

interface Host {
  readonly member: MemberId;
  readonly address: string;
  readonly life: Life;
  accept?: (link: Link) => void;
}

interface Session {
  readonly ends: readonly [SimLink, SimLink];
  readonly lives: readonly [Life, Life];
}

class Pair implements Route {
  readonly bytesPerMs: number;
  readonly #random: Random;
  readonly #delayMsMin: number;
  readonly #delayMsMax: number;
  cut: Cut | undefined;
  sessions: Session[] = [];

  constructor(conduct: NetworkConduct, random: Random) {
    this.bytesPerMs = conduct.bytesPerMs;
    this.#random = random;
    this.#delayMsMin = conduct.delayMsMin ?? 0.05;
    this.#delayMsMax = conduct.delayMsMax * random.unit() ** 2;
  }

  get silent(): boolean {
    return this.cut === 'silent';
  }

  delayMs(): number {
    return this.#delayMsMin + this.#random.unit() ** 3 * this.#delayMsMax;
  }
}

/** The network: its listeners, and the routes between any two of them. */
export class Medium {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #conduct: (a: MemberId, b: MemberId) => NetworkConduct;
  readonly #carrier: Carrier;
  readonly #uplink: (from: MemberId) => Uplink | undefined;
  readonly #hosts = new Map<string, Host>();
  readonly #pairs = new Map<string, Pair>();
  readonly #observed: (from: MemberId, to: MemberId, message: PeerMessage) => void;

  constructor(options: {
    scheduler: Scheduler;
    random: Random;
    /** The network between two members, independent of their order. */
    conduct: (a: MemberId, b: MemberId) => NetworkConduct;
    carrier: Carrier;
    /** The line of a member that all its sessions share; without it, each pair has its own. */
    uplink?: ((from: MemberId) => Uplink | undefined) | undefined;
    /** Called with every message that arrives. */
    observed: (from: MemberId, to: MemberId, message: PeerMessage) => void;
  }) {
    this.#scheduler = options.scheduler;
    this.#random = options.random;
    this.#conduct = options.conduct;
    this.#carrier = options.carrier;
    this.#uplink = options.uplink ?? (() => undefined);
    this.#observed = options.observed;
  }

  /** Starts to listen at `address` for one life of an agent. */
  open(member: MemberId, address: string, life: Life): Network {
    const host: Host = { member, address, life };
    this.#hosts.set(address, host);
    return {
      dial: (to) => this.#dial(host, to),
      onLink: (accept) => {
        host.accept = accept;
      },
      // Only wrong keys and versions are refused, which simulated members do not have.
      onRefused: () => {},
    };
  }

  /** Cuts the connection of two members. */
  cut(a: MemberId, b: MemberId, how: Cut): void {
    const pair = this.#pair(a, b);
    pair.cut = how;
    if (how === 'refused') this.#breakAll(pair, 'the connection was lost');
  }

  /** Restores it. Messages delayed by a silent cut arrive late, or are lost with their session. */
  heal(a: MemberId, b: MemberId): void {
    const pair = this.#pair(a, b);
    if (pair.cut === undefined) return;
    pair.cut = undefined;
    for (const session of pair.sessions) {
      // A machine that restarted meanwhile does not know the session, and resets it.
      if (session.lives.some((life) => !life.alive) || this.#random.chance(0.5)) this.#breakLater(session, 'reset');
      else for (const end of session.ends) end.resume();
    }
  }

  /**
   * The member's agent has ended. `closesConnections`: as its kernel does for a killed process. Otherwise the others notice nothing
   * until it is back, as in a power cut.
   */
  down(member: MemberId, address: string, closesConnections: boolean): void {
    this.#hosts.delete(address);
    if (!closesConnections) return;
    for (const [key, pair] of this.#pairs) if (key.includes(member)) this.#breakDead(pair);
  }

  /** The member's machine is back: sessions of an earlier agent are reset. */
  up(member: MemberId): void {
    for (const [key, pair] of this.#pairs) if (key.includes(member)) this.#breakDead(pair);
  }

  async #dial(from: Host, address: string): Promise<Link> {
    from.life.effect();
    const to = this.#hosts.get(address);
    const pair = to && to !== from ? this.#pair(from.member, to.member) : undefined;
    if (pair?.silent) await this.#scheduler.pause(handshakeTimeoutMs, from.life);
    // A handshake takes several round trips.
    else await this.#scheduler.pause(0.5 + 4 * (pair?.delayMs() ?? 0), from.life);
    const there = this.#hosts.get(address);
    if (there === from) throw new LockstepError('handshake-failed', `${address} is this member itself.`);
    if (there === undefined || pair === undefined || pair.cut !== undefined || !there.life.alive || !there.accept) {
      throw new LockstepError('handshake-failed', `No member answers at ${address}.`);
    }
    return this.#connect(from, there, pair);
  }

  #connect(from: Host, to: Host, pair: Pair): Link {
    const end = (here: Host, there: Host, dialled: boolean) =>
      new SimLink({
        scheduler: this.#scheduler,
        life: here.life,
        peer: there.member,
        dialled,
        remote: there.address,
        route: pair,
        carrier: this.#carrier,
        uplink: this.#uplink(here.member),
        arrived: (message) => this.#observed(there.member, here.member, message),
      });
    const [dialler, listener] = [end(from, to, true), end(to, from, false)];
    SimLink.join(dialler, listener);
    pair.sessions = pair.sessions.filter(({ ends }) => ends.some((old) => old.isOpen));
    pair.sessions.push({ ends: [dialler, listener], lives: [from.life, to.life] });
    this.#scheduler.after(pair.delayMs(), () => to.accept?.(listener), to.life);
    return dialler;
  }

  #breakAll(pair: Pair, reason: string): void {
    for (const session of pair.sessions) this.#breakLater(session, reason);
    pair.sessions = [];
  }

  /** Breaks the sessions with a side that has ended. */
  #breakDead(pair: Pair): void {
    if (pair.cut === 'silent') return;
    const isDead = ({ lives }: Session) => lives.some((life) => !life.alive);
    for (const session of pair.sessions.filter(isDead)) this.#breakLater(session, 'the connection was lost');
    pair.sessions = pair.sessions.filter((session) => !isDead(session));
  }

  /** The two sides of a broken session notice at different times. */
  #breakLater(session: Session, reason: string): void {
    for (const end of session.ends) this.#scheduler.after(this.#random.between(0.1, 50), () => end.breakOff(reason));
  }

  #pair(a: MemberId, b: MemberId): Pair {
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = new Pair(this.#conduct(a, b), this.#random.fork());
      this.#pairs.set(key, pair);
    }
    return pair;
  }
}

/**
 * Freezes a message deeply, to detect a receiver that changes an object of the sender. Byte arrays cannot be frozen; no code of Lockstep
 * writes to one that it received.
 */
export function freezeMessage(message: PeerMessage): PeerMessage {
  freezeDeep(message);
  return message;
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freezeDeep(inner);
}

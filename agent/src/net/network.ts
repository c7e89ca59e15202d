import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import {
  type Compression,
  handshakeTimeoutMs as defaultHandshakeTimeoutMs,
  type ErrorCode,
  formatHostPort,
  type HostPort,
  isAnyHost,
  type LockstepError,
  type MemberId,
  PROTOCOL_VERSION,
  PROTOCOL_VERSION_MIN,
} from '@lockstep/shared';
import type { ControlAnswer, ControlRequest } from '@lockstep/shared/api';
import { BlockBuffers } from '../os/block-buffers.ts';
import type { Log } from '../sync/ports/log.ts';
import type { Link, Network } from '../sync/ports/network.ts';
import { answerCall, callMember } from './control-call.ts';
import { type OpenedSession, openConnection } from './dial.ts';
import type { Credentials, ProtocolRange } from './handshake.ts';
import { encodeBase32 } from './keys/base32.ts';
import type { Identity } from './keys/identity.ts';
import { controlHandshakeTimeoutMs, controlsMax } from './limits.ts';
import { SocketLink } from './link.ts';
import { type Listener, openListener } from './listener.ts';

export interface NetworkOptions {
  readonly identity: Identity;
  readonly clusterKey: Uint8Array;
  readonly listen: HostPort;
  readonly log: Log;
  /** The memory for blocks; by default the network's own. */
  readonly buffers?: BlockBuffers | undefined;
  /** The links that compress blocks; by default the slow ones. */
  readonly compression?: Compression | undefined;
  /** The protocol versions to speak; by default those of this software. */
  readonly protocol?: ProtocolRange | undefined;
  readonly handshakeTimeoutMs?: number | undefined;
  /** How long a side that closes waits for the other one, whose last messages may be lost then. */
  readonly closeTimeoutMs?: number | undefined;
}

/** A network that is listening. */
export interface OpenNetwork extends Network {
  /** The address on which it listens, with the port that the system chose for port 0. */
  readonly address: HostPort;
  /** Sets the one answer to members that control this one. Without it they are cut off. */
  onControl(answer: (peer: MemberId, request: ControlRequest) => Promise<ControlAnswer>): void;
  /** Asks the member that listens at `address` to do something: see `callMember`. */
  control(address: string, member: MemberId, request: ControlRequest): Promise<ControlAnswer>;
  /** Closes all sessions, and resolves when every connection is closed. */
  close(): Promise<void>;
}

/** Refusals that need a person's action; the rest are strangers and broken connections. */
const refusalsToShow: ReadonlySet<ErrorCode> = new Set(['cluster-mismatch', 'protocol-mismatch', 'copied-state']);

/** Opens a network that listens and can dial. Rejects with `port-in-use` or `config-invalid`. */
export async function openNetwork(options: NetworkOptions): Promise<OpenNetwork> {
  const network = new SocketNetwork(options);
  await network.open();
  return network;
}

class SocketNetwork implements OpenNetwork {
  readonly #options: NetworkOptions;
  readonly #credentials: Credentials;
  readonly #handshakeTimeoutMs: number;
  readonly #buffers: BlockBuffers;
  /** Open sessions, each with a promise that resolves when it is closed. */
  readonly #links = new Map<SocketLink, Promise<void>>();
  readonly #dials = new Set<() => void>();
  /** Connections of members that control this one. */
  readonly #calls = new Set<OpenedSession>();
  #listener: Listener | undefined;
  #accept: ((link: Link) => void) | undefined;
  /** Sessions that others opened before `onLink`. */
  #unclaimed: Link[] = [];
  #answer: ((peer: MemberId, request: ControlRequest) => Promise<ControlAnswer>) | undefined;
  #refused: (remote: string, reason: string) => void = () => {};
  #isClosed = false;

  constructor(options: NetworkOptions) {
    const { identity, clusterKey, protocol, handshakeTimeoutMs } = options;
    this.#options = options;
    this.#buffers = options.buffers ?? new BlockBuffers();
    this.#handshakeTimeoutMs = handshakeTimeoutMs ?? defaultHandshakeTimeoutMs;
    this.#credentials = {
      identity,
      clusterKey,
      protocol: protocol ?? { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION },
      instance: encodeBase32(randomBytes(10)),
    };
  }

  async open(): Promise<void> {
    this.#listener = await openListener({
      listen: this.#options.listen,
      credentials: this.#credentials,
      handshakeTimeoutMs: this.#handshakeTimeoutMs,
      log: this.#options.log,
      opened: (session) => {
        const link = this.#addLink(session, false, session.remote);
        if (this.#accept === undefined) this.#unclaimed.push(link);
        else this.#accept(link);
      },
      controlled: (session) => this.#controlled(session),
      refused: (remote, error) => this.#onRefusal(remote, error),
    });
  }

  get address(): HostPort {
    if (this.#listener === undefined) throw new Error('The network is not open.');
    return this.#listener.address;
  }

  async dial(address: string): Promise<Link> {
    let giveUp: (() => void) | undefined;
    try {
      return await new Promise<Link>((resolve, reject) => {
        giveUp = openConnection({
          address,
          credentials: this.#credentials,
          handshakeTimeoutMs: this.#handshakeTimeoutMs,
          closeTimeoutMs: this.#options.closeTimeoutMs,
          opened: (session) => resolve(this.#addLink(session, true, address)),
          failed: reject,
        });
        this.#dials.add(giveUp);
        if (this.#isClosed) giveUp();
      });
    } finally {
      if (giveUp !== undefined) this.#dials.delete(giveUp);
    }
  }

  onLink(accept: (link: Link) => void): void {
    this.#accept = accept;
    const unclaimed = this.#unclaimed;
    this.#unclaimed = [];
    for (const link of unclaimed) accept(link);
  }

  onControl(answer: (peer: MemberId, request: ControlRequest) => Promise<ControlAnswer>): void {
    this.#answer = answer;
  }

  control(address: string, member: MemberId, request: ControlRequest): Promise<ControlAnswer> {
    const credentials = this.#credentials;
    const handshakeTimeoutMs = Math.min(this.#handshakeTimeoutMs, controlHandshakeTimeoutMs);
    return callMember({ address, member, request, credentials, handshakeTimeoutMs });
  }

  onRefused(refused: (remote: string, reason: string) => void): void {
    this.#refused = refused;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const giveUp of [...this.#dials]) giveUp();
    for (const link of this.#links.keys()) link.goAway();
    for (const { socket } of this.#calls) socket.terminate();
    await Promise.all([this.#listener?.close(), ...this.#links.values()]);
  }

  #controlled(session: OpenedSession): void {
    const { socket } = session;
    if (this.#answer === undefined || this.#isClosed || this.#calls.size >= controlsMax) {
      socket.terminate();
      return;
    }
    this.#calls.add(session);
    socket.once('close', () => this.#calls.delete(session));
    answerCall(session, this.#answer);
  }

  #addLink(session: OpenedSession, dialled: boolean, remote: string): SocketLink {
    const { socket, peer } = session;
    const { log, compression = 'auto' } = this.#options;
    const link = new SocketLink({ ...session, dialled, remote, log, buffers: this.#buffers, compression });
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        this.#links.delete(link);
        resolve();
      });
    });
    this.#links.set(link, closed);
    this.#options.log.debug({ peer, remote, dialled }, 'a session opened');
    if (this.#isClosed) link.goAway();
    return link;
  }

  #onRefusal(remote: string, error: LockstepError): void {
    if (!refusalsToShow.has(error.code)) {
      this.#options.log.debug({ remote }, error.message);
      return;
    }
    this.#options.log.warn({ remote }, error.message);
    this.#refused(remote, error.message);
  }
}

/** The addresses at which others reach a listener: its own, or that of each interface if it means all of them. */
export function reachableAt({ host, port }: HostPort): readonly string[] {
  if (!isAnyHost(host)) return [formatHostPort({ host, port })];
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = own.filter((address) => !address.internal && !address.address.startsWith('fe80'));
  return outside.map(({ address }) => formatHostPort({ host: address, port }));
}

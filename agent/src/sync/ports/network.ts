import type { MemberId, PeerMessage } from '@lockstep/shared';

/** Hears what a session brings. */
export interface LinkReceiver {
  message(message: PeerMessage): void;
  /** `isFault`: one side broke the protocol, or could not take what the other sent. */
  closed(reason: string, isFault: boolean): void;
}

/** One authenticated session with one member. Messages arrive whole, in the order of their lanes (`laneOf`), and checked against the schema. */
export interface Link {
  readonly peer: MemberId;
  /** True when this side opened the connection. */
  readonly dialled: boolean;
  /** `host:port` of the other side, for people. */
  readonly remote: string;
  /** Queues a message, whose byte arrays must not change until it is sent. After the link closed this does nothing. */
  send(message: PeerMessage): void;
  /** Bytes that have come, those of a message that is not whole yet included. */
  receivedBytes(): number;
  /** Bytes queued and not yet handed to the kernel. */
  queuedBytes(): number;
  /** Calls `run` once, when `queuedBytes()` has fallen below half of `sendQueueBytesMax` (at once when it is), or never if the link closes. */
  whenDrained(run: () => void): void;
  /** Sets the one receiver. Messages that came before are delivered to it first, in order. `closed` is called exactly once. */
  start(receiver: LinkReceiver): void;
  /** `isFault`: the other side, or this one, cannot go on with such sessions; it is told so too. */
  close(reason: string, isFault?: boolean): void;
}

/** How members reach each other. */
export interface Network {
  /**
   * Opens a session with whoever listens at `address` (`host:port`). Rejects with a LockstepError that says why not: nobody
   * there, wrong cluster key, another cluster, another protocol version, ourselves.
   */
  dial(address: string): Promise<Link>;
  /** Sets the one receiver of sessions that others opened. */
  onLink(accept: (link: Link) => void): void;
  /** Sets the one receiver of refusals of connections that others opened (wrong key, other version), for the problem list. */
  onRefused(refused: (remote: string, reason: string) => void): void;
}

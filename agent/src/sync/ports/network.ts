import type { BulkLane, MemberId, PeerMessage } from '@lockstep/shared';

/** Callbacks of a session. */
export interface LinkReceiver {
  message(message: PeerMessage): void;
  /** The session ended. `isFault`: one side broke the protocol, or could not process a message. */
  closed(reason: string, isFault: boolean): void;
}

/** One authenticated session with one member. Messages arrive whole, checked against the schema, and in the order of their lanes (`laneOf`). */
export interface Link {
  readonly peer: MemberId;
  /** True when this side opened the connection. */
  readonly dialled: boolean;
  /** `host:port` of the other side, for people. */
  readonly remote: string;
  /** Queues a message. Its byte arrays must not change until it is sent, and the bytes of a block not be used again. Does nothing after the link closed. */
  send(message: PeerMessage): void;
  /** Drops the blocks with these ids that wait and have not begun to leave. Returns their ids. */
  withdraw(ids: ReadonlySet<number>): readonly number[];
  /** Bytes received so far, including those of an incomplete message. A compressed block that is complete counts as what it contains. */
  receivedBytes(): number;
  /** Of these, the ones of blocks that are not complete. */
  partialBlockBytes(): number;
  /** Bytes that are not handed to the kernel yet; with a lane only those that wait in it. */
  queuedBytes(lane?: BulkLane): number;
  /** Calls `run` once `queuedBytes(lane)` is below half of `sendQueueBytesMax`: at once if it is, never if the link closes before. */
  whenDrained(lane: BulkLane, run: () => void): void;
  /** Calls `run` once `queuedBytes()` is 0: at once if it is, never if the link closes before. */
  whenSent(run: () => void): void;
  /** Sets the one receiver. Earlier messages are delivered to it first, in order. `closed` is called exactly once. */
  start(receiver: LinkReceiver): void;
  /** Closes the session. `isFault`: one side cannot continue with such sessions; the other side receives this too. */
  close(reason: string, isFault?: boolean): void;
}

/** The transport between members. */
export interface Network {
  /**
   * Opens a session with the member that listens at `address` (`host:port`). Rejects with a LockstepError that says why not: no
   * listener, wrong cluster key, another cluster, another protocol version, or this member itself.
   */
  dial(address: string): Promise<Link>;
  /** Sets the one receiver of sessions that others opened. */
  onLink(accept: (link: Link) => void): void;
  /** Sets the one receiver of refused incoming connections (wrong key, other version), for the problem list. */
  onRefused(refused: (remote: string, reason: string) => void): void;
}

import type { ContentId, MemberId, OriginId } from '../ids.ts';
import type { CarriedOperation, VersionVector } from '../operation.ts';

/** `joining → syncing → active → suspect → down`, and `left`. A member reports itself as one of the first three. */
export type MemberState = 'joining' | 'syncing' | 'active' | 'suspect' | 'down' | 'left';

/** Inclusive range of sequence numbers. */
export type SeqRange = readonly [from: number, to: number];

/** The operations that a member holds durably: everything up to `vector`, and the `ranges` above it. */
export interface Applied {
  readonly vector: VersionVector;
  readonly ranges: Readonly<Record<OriginId, readonly SeqRange[]>>;
}

/** The first message of both sides, after the handshake has authenticated them. */
export interface HelloMessage {
  readonly type: 'hello';
  readonly name: string;
  readonly addresses: readonly string[];
  /** The origin under which the sender numbers its operations now. */
  readonly origin: OriginId;
  readonly known: VersionVector;
  /** See `AckMessage`. */
  readonly marks: Uint8Array;
  readonly applied: Applied;
  /** Origins that ended because their log forked, each with its last number. */
  readonly sealed: VersionVector;
  readonly state: MemberState;
  /** The time at which the sender last became active, milliseconds since the epoch. */
  readonly enabledAt?: number | undefined;
  readonly software: string;
  /** It fetches contents on demand: what it acknowledges it shows, and may not have. */
  readonly onDemand?: true | undefined;
}

/** "Send me your own operations after this number, now and as they are made." */
export interface SubscribeMessage {
  readonly type: 'subscribe';
  readonly origin: OriginId;
  readonly after: number;
}

/** Operations; those of one origin in seq order without a gap. Confirmed by `received` with the same id. */
export interface OperationsMessage {
  readonly type: 'operations';
  readonly id: number;
  readonly carried: readonly CarriedOperation[];
}

/** The operations of that frame are journaled here (not yet applied): the sender may send more. */
export interface ReceivedMessage {
  readonly type: 'received';
  readonly id: number;
}

/** "Send me what you know beyond `known`, of every origin." Answered by `operations` frames and one `pulled`. */
export interface PullMessage {
  readonly type: 'pull';
  readonly id: number;
  readonly known: VersionVector;
}

/** Progress of a pull: sent first with the total, and last with `done`. */
export interface PulledMessage {
  readonly type: 'pulled';
  readonly id: number;
  readonly total: number;
  readonly done: boolean;
}

/** "Send me this block." Small content is one block, index 0. */
export interface WantMessage {
  readonly type: 'want';
  readonly id: number;
  readonly content: ContentId;
  readonly index: number;
  /** The path at which it is to be shown. */
  readonly path: string;
  /** Only ask whether the receiver has the content: it answers `missing`, and `lacks` tells. */
  readonly probe?: boolean | undefined;
  /** With `probe`: only a file that the disk durably shows at the path, and that the receiver does not drop, is one that it has. */
  readonly keep?: boolean | undefined;
  /** The answer is to be the recipe of the block: the lengths and hashes of its chunks. */
  readonly recipe?: boolean | undefined;
  /** The answer is to be these ranges of the block, joined: the offset of each, and its length. */
  readonly ranges?: readonly (readonly [offset: number, length: number])[] | undefined;
}

export interface BlockMessage {
  readonly type: 'block';
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** The answers to these wants are of no use any more. Those that have not begun to leave are replaced by a `missing` each. */
export interface WithdrawMessage {
  readonly type: 'withdraw';
  readonly ids: readonly number[];
}

/** The sender cannot supply the block, or the want was withdrawn. Answers `want`. */
export interface MissingMessage {
  readonly type: 'missing';
  readonly id: number;
  /** It is neither in the folder nor in the history; false if it is there and could not be read. */
  readonly lacks: boolean;
  /** The disk shows an entry at the path that was named. */
  readonly shows: boolean;
  /** With `shows`: it is only the name of a file that is fetched on demand. */
  readonly named?: boolean | undefined;
}

/**
 * Blocks of a content that the sender has verified and staged while it fetches the others: it sends them to any member that asks. Those of
 * earlier messages of the session still count.
 */
export interface HaveMessage {
  readonly type: 'have';
  readonly content: ContentId;
  /** Ranges of indices. */
  readonly blocks: readonly SeqRange[];
}

/** The contents of the files on the disk of a sender that fetches on demand, as a Bloom filter. Replaces the one sent before. */
export interface HoldingsMessage {
  readonly type: 'holdings';
  /** The number of this state of the filter. */
  readonly seq: number;
  /** Bit 0 of a byte is its least significant one. Empty: the sender holds more than a filter can tell. */
  readonly bits: Uint8Array;
}

/** The bits of the sender's filter at these positions have changed since its state `seq` - 1. */
export interface FlippedMessage {
  readonly type: 'flipped';
  readonly seq: number;
  readonly positions: readonly number[];
}

/** Asks for `holdings`: a `flipped` of the receiver did not fit the filter of it that the sender has. */
export interface RetellMessage {
  readonly type: 'retell';
}

/** The operations that the sender knows and holds; sent whenever they change, coalesced. */
export interface AckMessage {
  readonly type: 'ack';
  readonly known: VersionVector;
  /** For each origin of `known`, in ascending order of the ids, the first 8 bytes of its chain hash at that number. */
  readonly marks: Uint8Array;
  readonly applied: Applied;
}

/** A resync under way. */
export interface CatchUpProgress {
  readonly source: MemberId;
  readonly done: number;
  readonly total: number;
}

/** The copies that a member should keep for the cluster, and does not have. */
export interface LackingCopies {
  readonly files: number;
  readonly bytes: number;
  /** There is no room for them, although all was dropped that may be. */
  readonly isFull: boolean;
  /** No member that answers has any of them. */
  readonly isUnavailable: boolean;
}

/** The state of a member, as it tells it itself. */
export interface SelfReport {
  readonly state: MemberState;
  readonly enabledAt?: number | undefined;
  readonly known: VersionVector;
  /** See `AckMessage`. */
  readonly marks: Uint8Array;
  readonly applied: Applied;
  /** Combination of all heads, 16 hexadecimal digits; comparable when `known` is equal. */
  readonly digest: string;
  readonly pending: number;
  /** The files in place on its disk, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes of all files, as far as it knows their operations. */
  readonly totalBytes: number;
  /** Those that are neither in place on its disk nor staged. */
  readonly missingBytes: number;
  /** The rate at which they arrive; 0 if they do no more. Absent while it is not known, and if none is missing. */
  readonly bytesPerSecond?: number | undefined;
  /** The copies that it keeps for the cluster and does not have. Absent if there are none. */
  readonly lackingCopies?: LackingCopies | undefined;
  /** Of the disk that its folder is on. Absent while that is not there, and until it was measured. */
  readonly freeBytes?: number | undefined;
  /** Share of one processor used since the last heartbeat, 0 to n. */
  readonly load: number;
  readonly problems: number;
  /** Code of the worst of them. A newer member may send one that is not known here. */
  readonly worstProblem?: string | undefined;
  /** Names the webhook by which it tells people, if it has one: members with the same one agree on one that posts. */
  readonly webhook?: string | undefined;
  readonly progress?: CatchUpProgress | undefined;
  /** Smoothed round trip that it measured to each member it is connected to, in milliseconds. */
  readonly latenciesMs: Readonly<Record<MemberId, number>>;
}

/** The state of the sender, sent every second in which it changed. */
export interface HeartbeatMessage extends SelfReport, Beat {
  readonly type: 'heartbeat';
}

/** Sent in place of a heartbeat that would repeat the last one. */
export interface PulseMessage extends Beat {
  readonly type: 'pulse';
}

/** A sign of life of the sender that also measures the round trip. */
interface Beat {
  readonly id: number;
  /** The sender's wall clock, milliseconds since the epoch. */
  readonly wallMs: number;
  /** Answers the receiver's newest heartbeat, unless an earlier heartbeat did. */
  readonly echo?: HeartbeatEcho | undefined;
  /** Blocks that the receiver wants are on their way, or wait for a limit of the sender. */
  readonly sends?: boolean | undefined;
}

/** The answer to a heartbeat, by which its sender measures the round trip. */
export interface HeartbeatEcho {
  /** The id of that heartbeat. */
  readonly id: number;
  /** The time between its arrival and this answer, in milliseconds. */
  readonly heldMs: number;
}

/** The last report that the sender got from a third member, with which the receiver has no session. */
export interface ReportMessage {
  readonly type: 'report';
  readonly member: MemberId;
  /** The number of the sender's session with it: within one, later reports are newer. */
  readonly session: number;
  /** How long ago it was heard, in milliseconds. */
  readonly agoMs: number;
  /** Absent if it has left in order. */
  readonly said?: SelfReport | undefined;
  /** How it left in order. */
  readonly gone?: 'stopped' | 'paused' | undefined;
}

/** The sender leaves: for now, or (`retire`) for good. */
export interface LeaveMessage {
  readonly type: 'leave';
  readonly retire: boolean;
  /** It leaves because a user paused it: it runs, and accepts no session until it is resumed. */
  readonly paused?: boolean | undefined;
}

/** "You have other operations under the same numbers." The receiver seals the origin where the chains were last equal. */
export interface ForkMessage {
  readonly type: 'fork';
  readonly origin: OriginId;
  /** Numbers of the origin, descending. */
  readonly seqs: readonly number[];
  /** The sender's mark at each of them. */
  readonly marks: Uint8Array;
}

/** Origins that ended. Sent before any operation that was made after the seal was known. */
export interface SealedMessage {
  readonly type: 'sealed';
  readonly origins: VersionVector;
}

export type PeerMessage =
  | HelloMessage
  | SubscribeMessage
  | OperationsMessage
  | ReceivedMessage
  | PullMessage
  | PulledMessage
  | WantMessage
  | BlockMessage
  | MissingMessage
  | WithdrawMessage
  | HaveMessage
  | HoldingsMessage
  | FlippedMessage
  | RetellMessage
  | AckMessage
  | HeartbeatMessage
  | PulseMessage
  | ReportMessage
  | LeaveMessage
  | ForkMessage
  | SealedMessage;

export type PeerMessageType = PeerMessage['type'];

import type { ContentId, MemberId, Operation } from '@lockstep/shared';
import { smallFetchBytesMax } from '@lockstep/shared';
import type { ArrivalRate, Arrivals } from '../../core/traffic/arrivals.ts';
import type { LackingMember } from '../contents/missing-contents.ts';
import type { Peer } from '../members/peer.ts';
import type { StageFailure } from '../ports/folder.ts';
import type { BlockTodo } from './block-todo.ts';
import type { Offer } from './offers.ts';

/**
 * `ok`: the content is staged and verified. `missing`: no reachable member has it. `unneeded`: its version was superseded meanwhile, or
 * it is here by other means. `lost`: the staged part is gone.
 */
export type FetchOutcome = 'ok' | 'missing' | 'unneeded' | StageFailure;

/** The size class of a fetch. Small and large contents have separate limits, so that they do not wait for each other. */
export type FetchSize = 'small' | 'large';

/** The size class of a content of `bytes` bytes. */
export function fetchSize(bytes: number): FetchSize {
  return bytes > smallFetchBytesMax ? 'large' : 'small';
}

/** A member from which blocks of a large content can be requested. */
export interface FetchSource {
  readonly peer: Peer;
  /** It has all blocks, or may have. */
  readonly hasAll: boolean;
  /** It may have all blocks, and no member is known to have them. */
  readonly isGuess: boolean;
  /** The blocks that it has staged while it fetches the content itself. */
  readonly offer: Offer | undefined;
}

/** The transfer of one content to this member. */
export interface Fetch {
  /** The operation with the content; of several, the first that was not superseded since. */
  operation: Operation;
  readonly content: ContentId;
  readonly size: number;
  readonly waiting: { readonly operation: Operation; readonly done: (outcome: FetchOutcome) => void }[];
  readonly tried: Set<MemberId>;
  /** Members of which blocks were requested. */
  readonly asked: Set<MemberId>;
  /** Members of `tried` that answered that they do not have it at all. */
  readonly lacking: LackingMember[];
  /** The member that a small content is requested from, or from which the last block of a large one came. */
  source: Peer | undefined;
  /** The members that a large content can be requested from. Undefined if that must be found out again. */
  sources: readonly FetchSource[] | undefined;
  /**
   * A block is not requested again while it is being written: a second write could reach the file after it was moved into place,
   * and change its modification time.
   */
  readonly todo: BlockTodo;
  /** Number of writes under way, and of blocks that have been written. */
  staging: number;
  staged: number;
  /** The search for blocks that an earlier fetch left is not over: no block is requested yet. */
  isLooking: boolean;
  /** The staged bytes. */
  readonly arrivals: Arrivals;
  /** Its version was superseded while blocks were copied. */
  isUnneeded: boolean;
  /** The reason why staging failed, if it did. */
  failure: StageFailure | undefined;
  /** The fetch with the lowest turn requests the next block. */
  turn: number;
  readonly startedMs: number;
}

/** A transfer, for people. */
export interface TransferProgress {
  readonly path: string;
  readonly source: MemberId | undefined;
  /** The members that sent some of it in the last seconds, the fastest first. */
  readonly rates: readonly ArrivalRate[];
  readonly size: number;
  readonly doneBytes: number;
  /** The part of the arrived bytes that was on this machine already, in another content or as zeros. */
  readonly reusedBytes: number;
  readonly bytesPerSecond: number;
  readonly startedMs: number;
  /** Time of the last progress. */
  readonly progressMs: number | undefined;
  /** A request to its source is unanswered. */
  readonly isAsked: boolean;
  /** The asked source reports that its blocks wait for its line, or for a limit. */
  readonly isSending: boolean;
  /** Other members fetch it as well. */
  readonly isShared: boolean;
  /** The bytes that came in the sessions with the asked members, those of an incomplete block included. */
  readonly sessionBytes: number;
  /** Its next block waits for the limit for receiving. */
  readonly isLimited: boolean;
  /** A block could not be written: the disk is full. */
  readonly isFull: boolean;
}

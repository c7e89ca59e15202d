import type {
  Applied,
  HeartbeatMessage,
  HelloMessage,
  MemberId,
  MemberState,
  OriginId,
  SelfReport,
  VersionVector,
} from '@lockstep/shared';
import { AckTimes } from '../../core/ack-times.ts';
import type { HoldingsFilter } from '../../core/cache/holdings-filter.ts';
import { SeqRangeLog } from '../../core/seq-range-log.ts';
import { RateMeter } from '../../core/traffic/rate-meter.ts';
import type { Link } from '../ports/network.ts';
import type { Agreement, Claim } from './agreement.ts';

const emptyApplied: Applied = { vector: {}, ranges: {} };

/** Number of acknowledgements and frames whose times are kept for each member: some 100 KB, the last seconds of a flood. */
export const timedRangesMax = 1_024;

/** A report that another member passed on about a member with which this one has no session. */
export interface PassedOn {
  /** The member that passed it on, in its session that began at `sessionMs`. */
  readonly by: Peer;
  readonly sessionMs: number | undefined;
  /** The number of its session with the member. */
  readonly session: number;
  readonly said: SelfReport;
  /** The time of the report, by this member's monotonic clock. */
  readonly atMs: number;
}

/** The state of a member at the time when this one learns of it. */
interface PeerStart {
  readonly agreement: Agreement;
  /** Its last acknowledgement in the journal, if there is one. */
  readonly applied?: Applied | undefined;
  readonly nowWallMs: number;
}

/** The state of another member as known here; it outlives sessions. */
export class Peer {
  readonly id: MemberId;
  link: Link | undefined;
  /** Time of the other side's hello in this session. */
  helloMs: number | undefined;
  hello: HelloMessage | undefined;
  /** The number of the present session, or of the last one. */
  sessions = 0;
  heartbeat: HeartbeatMessage | undefined;
  heartbeatMs: number | undefined;
  /** The contents that it holds, if it fetches on demand and has reported them in this session. */
  holdings: HoldingsFilter | undefined;
  /** The contents that it held when its last session ended, until it reports again. */
  lastHoldings: HoldingsFilter | undefined;
  /** Only while there is no session. */
  passedOn: PassedOn | undefined;
  known: VersionVector = {};
  /** Its last claim, as received. */
  claim: Claim | undefined;
  /** An origin whose log at the peer differs from this member's: no operations are exchanged until that is repaired. */
  forked: OriginId | undefined;
  applied: Applied;
  /** The extent to which its logs are known to equal this member's. */
  readonly agreement: Agreement;
  #heardBytes = 0;
  /** Smoothed round trip. */
  rttMs: number | undefined;
  /** The longest single round trip since it was last taken. */
  rttPeakMs: number | undefined;
  lastHeardMs: number | undefined;
  /** How far its clock is ahead of this member's, in milliseconds. */
  clockSkewMs: number | undefined;
  /** Its state, and since when, wall clock. */
  state: MemberState = 'suspect';
  stateSince: number;
  lastError: string | undefined;
  /** It sent a `leave`, and has not returned. */
  stopped = false;
  /** It left because it was paused, not because its agent was stopped. */
  paused = false;
  /** Bytes of file contents sent to it and received from it. */
  readonly sent = new RateMeter();
  readonly received = new RateMeter();
  /** Blocks for it that wait for a limit of this member. */
  limitedBlocks = 0;
  /** Its last heartbeat or pulse reported blocks for this member in flight, or waiting for one of its limits. */
  isSending = false;
  /** Wall clock times at which operations were sent to it, and at which it first claimed to know and to hold them. */
  readonly sentAt = new SeqRangeLog(timedRangesMax);
  readonly knownAt = new AckTimes(timedRangesMax);
  readonly appliedAt = new AckTimes(timedRangesMax);

  constructor(id: MemberId, { agreement, applied = emptyApplied, nowWallMs }: PeerStart) {
    this.agreement = agreement;
    this.id = id;
    this.applied = applied;
    this.stateSince = nowWallMs;
  }

  /** Notes the hello that begins a session. */
  begin(hello: HelloMessage, nowMs: number): void {
    this.hello = hello;
    this.helloMs = nowMs;
    this.sessions += 1;
    this.heartbeat = undefined;
    this.isSending = false;
    this.holdings = undefined;
    this.passedOn = undefined;
    this.agreement.reset();
    this.lastError = undefined;
    this.stopped = false;
    this.paused = false;
  }

  /** Stores a report that another member passed on. */
  heardFrom(passedOn: PassedOn): void {
    const before = this.passedOn;
    const isSameSession =
      before?.by === passedOn.by && before.sessionMs === passedOn.sessionMs && before.session === passedOn.session;
    // A member that was set back meanwhile has another log.
    if (!isSameSession) this.agreement.reset();
    this.passedOn = passedOn;
    this.stopped = false;
    this.paused = false;
  }

  /** Drops the report that was passed on if it is so old, or if the session over which it came has ended. */
  dropOldReport(nowMs: number, oldMs: number): void {
    const { passedOn } = this;
    if (passedOn === undefined) return;
    const isOpen = passedOn.by.ready && passedOn.by.helloMs === passedOn.sessionMs;
    if (!isOpen || nowMs - passedOn.atMs >= oldMs) this.passedOn = undefined;
  }

  /** Takes over its claim, as far as its logs agree with this member's. */
  acknowledge(claim: Claim, wallMs: number): void {
    const { known, applied, forked } = this.agreement.judge(claim);
    this.claim = claim;
    this.forked = forked;
    this.known = known;
    this.applied = applied;
    this.knownAt.noteVector(known, wallMs);
    this.appliedAt.note(applied, wallMs);
  }

  /**
   * The operations that it claims to hold, for people. Its log may be longer than this member's and cannot be compared with it yet: until
   * then none of it counts as `applied`.
   */
  get saidApplied(): Applied {
    return this.forked === undefined ? (this.claim?.applied ?? this.applied) : this.applied;
  }

  /** Notes that a message arrived. */
  heard(nowMs: number): void {
    this.lastHeardMs = nowMs;
    this.#heardBytes = this.link?.receivedBytes() ?? 0;
  }

  /** Notes received bytes: a peer that sends a large message over a slow line is not silent, although no message is complete. */
  noteBytes(nowMs: number): void {
    if (this.link !== undefined && this.link.receivedBytes() > this.#heardBytes) this.heard(nowMs);
  }

  /** True while there is a session and the peer has sent its hello. */
  get ready(): boolean {
    return this.link !== undefined && this.hello !== undefined;
  }

  get origin(): OriginId | undefined {
    return this.hello?.origin;
  }

  /** Its last report on itself: to this member, or to the one that passed it on. */
  get said(): SelfReport | undefined {
    return this.heartbeat ?? this.passedOn?.said;
  }

  get enabledAt(): number | undefined {
    return this.said?.enabledAt ?? this.hello?.enabledAt;
  }
}

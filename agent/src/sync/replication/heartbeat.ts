import type { HeartbeatMessage, MemberId, MemberState, PulseMessage, SelfReport } from '@lockstep/shared';
import { downAfterMs, heartbeatIntervalMs, pulseIntervalMs, reportIntervalMs } from '@lockstep/shared';
import { formatDuration } from '@lockstep/shared/present';
import { ClockFilter } from '../../core/traffic/clock-filter.ts';
import { compareVectors } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';

/** Weight of a new round trip in the smoothed one (as in TCP, RFC 6298). */
const rttGain = 1 / 8;
const saveAcksMs = 10_000;
/** Equal vectors with unequal digests in this many successive heartbeats are not due to timing. */
const mismatchesMax = 3;

/** The part of a heartbeat that the engine supplies. */
export interface Vitals {
  readonly state: MemberState;
  readonly enabledAt: number | undefined;
  readonly load: number;
  readonly freeBytes: number | undefined;
  readonly progress: HeartbeatMessage['progress'];
  readonly totalBytes: number;
  readonly missingBytes: number;
  readonly bytesPerSecond: number | undefined;
  readonly lackingCopies: HeartbeatMessage['lackingCopies'];
}

/** Tells every peer that this member is alive and what is new, measures round trips, and closes sessions with silent peers. */
export class HeartbeatLoop {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #vitals: () => Promise<Vitals>;
  readonly #sent = new Map<number, { readonly peer: Peer; readonly atMs: number }>();
  /** The newest heartbeat of each peer that was not answered yet, and when it arrived. */
  readonly #unanswered = new WeakMap<Peer, { readonly id: number; readonly atMs: number }>();
  /** The state in the last heartbeat of a session, and its time. */
  readonly #told = new WeakMap<Link, { readonly state: string; readonly atMs: number }>();
  /** The time of the last heartbeat or pulse of a session, and whether it said that blocks are sent. */
  readonly #last = new WeakMap<Link, { readonly atMs: number; readonly sends: boolean }>();
  /** The sessions whose first heartbeat was answered. */
  readonly #answered = new WeakSet<Link>();
  readonly #mismatches = new Map<Peer, number>();
  readonly #clocks = new WeakMap<Peer, ClockFilter>();
  readonly #savedApplied = new Map<Peer, Peer['applied']>();
  #id = 0;
  #savedAtMs = 0;
  #dueMs = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(context: Context, peers: Peers, vitals: () => Promise<Vitals>) {
    this.#context = context;
    this.#peers = peers;
    this.#vitals = vitals;
    context.facts.sessionOpened.on((member) => this.#greet(member));
  }

  start(): void {
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#saveAcks();
  }

  /**
   * Handles a peer's heartbeat, or the pulse that repeats it: measures the round trip and compares clocks and digests. Returns true once the digests have differed in
   * `mismatchesMax` successive heartbeats.
   */
  received(peer: Peer, message: HeartbeatMessage | PulseMessage): boolean {
    const { clock, journal, problems, log } = this.#context;
    this.#unanswered.set(peer, { id: message.id, atMs: clock.monotonicMs() });
    peer.isSending = message.sends === true;
    this.#measure(peer, message);
    this.#answerFirst(peer);
    const { heartbeat } = peer;
    const member = this.#peers.nameOf(peer.id);
    const isComparable = heartbeat !== undefined && compareVectors(heartbeat.known, journal.log.known()) === 'equal';
    if (!isComparable) return false;
    if (heartbeat.digest === journal.totals.digest()) {
      this.#mismatches.delete(peer);
      problems.clear('digest-mismatch', { member });
      return false;
    }
    const count = (this.#mismatches.get(peer) ?? 0) + 1;
    this.#mismatches.set(peer, count);
    if (count !== mismatchesMax) return false;
    const { differing } = journal.verifyHeads(true);
    log.error({ peer: peer.id, differing: differing.length }, 'heads differ from those of a peer that knows the same');
    const detail =
      `This member and ${member} know the same operations but disagree about the outcome. ` +
      (differing.length > 0
        ? `${differing.length} paths were wrong here and have been rebuilt from the log.`
        : `The heads here agree with the log: run "lockstep verify" on ${member}.`);
    problems.set('digest-mismatch', { member }, detail);
    return true;
  }

  /**
   * Sends one heartbeat now, to all peers or only to one. Those to which it would repeat the last one get a pulse if one is due; see
   * `pulseIntervalMs`.
   */
  async send(only?: Peer): Promise<void> {
    const { clock, journal, problems, self } = this.#context;
    const vitals = await this.#vitals();
    if (this.#stopped) return;
    const counts = journal.totals.counts();
    const latenciesMs: Record<MemberId, number> = {};
    for (const peer of this.#peers.ready()) {
      if (peer.rttMs !== undefined) latenciesMs[peer.id] = Math.round(peer.rttMs * 100) / 100;
    }
    const report = {
      ...vitals,
      known: journal.log.known(),
      marks: journal.log.marks(),
      applied: journal.applied(),
      digest: journal.totals.digest(),
      pending: counts.pending,
      files: counts.disk.files,
      bytes: counts.disk.bytes,
      problems: problems.count,
      worstProblem: problems.worst()?.code,
      webhook: self.webhook,
      latenciesMs,
    };
    const state = stateOf(report);
    // Timers are not exact: a pulse may be due a moment later.
    const restMs = pulseIntervalMs(this.#peers.size) - heartbeatIntervalMs / 2;
    const reportMs = reportIntervalMs(this.#peers.size);
    for (const peer of only ? [only] : this.#peers.ready()) {
      const { link } = peer;
      if (link === undefined) continue;
      const nowMs = clock.monotonicMs();
      const told = this.#told.get(link);
      const isNews = told?.state !== state;
      const last = this.#last.get(link);
      const isQuiet = !isNews && last?.sends === false && !isSendingTo(peer);
      if (isQuiet && nowMs - last.atMs < restMs) continue;
      const beat = this.#beat(peer, link, nowMs);
      if (!isNews && nowMs - told.atMs < reportMs) link.send({ type: 'pulse', ...beat });
      else {
        this.#told.set(link, { state, atMs: nowMs });
        link.send({ type: 'heartbeat', ...report, ...beat });
      }
    }
  }

  /** The number of the next heartbeat or pulse to a peer, the answer to the peer's last one, and whether blocks are sent to it. */
  #beat(peer: Peer, link: Link, nowMs: number) {
    const id = ++this.#id;
    const asked = this.#unanswered.get(peer);
    this.#unanswered.delete(peer);
    this.#sent.set(id, { peer, atMs: nowMs });
    const echo = asked && { id: asked.id, heldMs: nowMs - asked.atMs };
    const sends = isSendingTo(peer);
    this.#last.set(link, { atMs: nowMs, sends });
    return { id, wallMs: this.#context.clock.wallMs(), echo, ...(sends && { sends }) };
  }

  /**
   * Measures the round trip by the answer in a peer's heartbeat, as NTP does: the time since the question, less the time for which the peer
   * held the answer. So an answer needs no message of its own.
   */
  #measure(peer: Peer, { echo, wallMs }: HeartbeatMessage | PulseMessage): void {
    const sent = echo && this.#sent.get(echo.id);
    if (echo === undefined || sent?.peer !== peer) return;
    this.#sent.delete(echo.id);
    // Both clocks run at slightly different speeds, so that the difference may be below zero on a fast link.
    const rttMs = Math.max(0, this.#context.clock.monotonicMs() - sent.atMs - echo.heldMs);
    peer.rttMs = peer.rttMs === undefined ? rttMs : peer.rttMs + rttGain * (rttMs - peer.rttMs);
    peer.rttPeakMs = Math.max(peer.rttPeakMs ?? 0, rttMs);
    this.#checkClock(peer, wallMs, rttMs);
  }

  /**
   * Answers the first heartbeat of a session at once, so that the round trip is known from the beginning. A pulse suffices: the values in
   * the greeting, such as the progress of a short pull, hold until the next second.
   */
  #answerFirst(peer: Peer): void {
    const { link } = peer;
    if (link === undefined || this.#answered.has(link)) return;
    this.#answered.add(link);
    link.send({ type: 'pulse', ...this.#beat(peer, link, this.#context.clock.monotonicMs()) });
  }

  #greet(member: MemberId): void {
    const peer = this.#peers.get(member);
    if (peer !== undefined) this.send(peer).catch(() => undefined);
  }

  #arm(): void {
    this.#dueMs = this.#context.clock.monotonicMs() + heartbeatIntervalMs;
    this.#timer = this.#context.clock.after(heartbeatIntervalMs, () => {
      if (this.#stopped) return;
      this.#forgiveStall();
      this.#arm();
      this.send().catch((error: unknown) => this.#context.log.error({ error: String(error) }, 'a heartbeat failed'));
      this.#dropSilent();
      const nowMs = this.#context.clock.monotonicMs();
      if (nowMs - this.#savedAtMs > saveAcksMs) this.#saveAcks();
      this.#context.facts.second.publish();
    });
  }

  /** Extends the peers' deadlines by the time for which this agent stalled: it could not hear them then. */
  #forgiveStall(): void {
    const stalledMs = this.#context.clock.monotonicMs() - this.#dueMs;
    if (stalledMs < heartbeatIntervalMs) return;
    for (const peer of this.#peers.all()) {
      if (peer.link && peer.lastHeardMs !== undefined) peer.lastHeardMs += stalledMs;
    }
  }

  #dropSilent(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const [id, sent] of this.#sent) {
      if (nowMs - sent.atMs > downAfterMs) this.#sent.delete(id);
    }
    for (const peer of this.#peers.all()) {
      peer.noteBytes(nowMs);
      // A half-open connection raises no error: a peer that is silent for so long counts as gone.
      if (peer.link && nowMs - (peer.lastHeardMs ?? nowMs) > downAfterMs) {
        peer.link.close(`nothing was heard from it for more than ${downAfterMs / 1000} s`);
      }
    }
  }

  #saveAcks(): void {
    this.#savedAtMs = this.#context.clock.monotonicMs();
    for (const peer of this.#peers.all()) {
      if (this.#savedApplied.get(peer) === peer.applied || peer.lastHeardMs === undefined) continue;
      const before = this.#savedApplied.get(peer);
      this.#savedApplied.set(peer, peer.applied);
      // Each heartbeat brings a new object; only a new content is worth a write.
      if (before && JSON.stringify(before) === JSON.stringify(peer.applied)) continue;
      writeIfRoom(() => this.#context.journal.acks.save(peer.id, peer.applied));
    }
  }

  #checkClock(peer: Peer, saidMs: number, roundTripMs: number): void {
    const { clock, problems } = this.#context;
    const filter = this.#clocks.get(peer) ?? new ClockFilter();
    this.#clocks.set(peer, filter);
    filter.note({ wallMs: clock.wallMs(), saidMs, roundTripMs });
    const { aheadMs, isWrong } = filter.skew() ?? { aheadMs: 0, isWrong: false };
    const member = this.#peers.nameOf(peer.id);
    peer.clockSkewMs = Math.round(aheadMs);
    if (!isWrong) problems.clear('clock-skew', { member });
    else {
      const detail =
        `The clock of ${member} is ${formatDuration(Math.abs(aheadMs) / 1_000)} ${aheadMs > 0 ? 'ahead of' : 'behind'} this one. ` +
        'No data is lost, but in a conflict the wrong version may keep the name: synchronize both clocks with NTP.';
      problems.set('clock-skew', { member }, detail);
    }
  }
}

/** True while blocks for the peer wait for the line or for a limit. */
function isSendingTo(peer: Peer): boolean {
  return peer.limitedBlocks > 0 || (peer.link?.queuedBytes('blocks') ?? 0) > 0;
}

/** The part of a report whose changes are sent in the same second, as a text to compare. */
function stateOf({ load, freeBytes, latenciesMs, marks, ...others }: SelfReport): string {
  // The set of members that it reaches counts as state, their latencies do not.
  return JSON.stringify([others, Buffer.from(marks).toString('base64'), Object.keys(latenciesMs)]);
}

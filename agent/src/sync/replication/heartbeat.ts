import type { HeartbeatMessage, HeartbeatReplyMessage, MemberId, MemberState } from '@lockstep/shared';
import { downAfterMs, heartbeatIntervalMs } from '@lockstep/shared';
import { ClockFilter } from '../../core/traffic/clock-filter.ts';
import { compareVectors } from '../../core/version.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
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
  readonly freeBytes: number;
  readonly progress: HeartbeatMessage['progress'];
  readonly totalBytes: number;
  readonly missingBytes: number;
  readonly bytesPerSecond: number | undefined;
}

/** Sends a heartbeat to every peer each second, measures round trips, and closes sessions with silent peers. */
export class HeartbeatLoop {
  readonly #context: Context;
  readonly #peers: Peers;
  readonly #vitals: () => Promise<Vitals>;
  readonly #sent = new Map<number, { readonly peer: Peer; readonly atMs: number }>();
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

  /** Handles a peer's answer to a heartbeat: measures the round trip and compares the clocks. */
  reply(peer: Peer, { id, wallMs }: HeartbeatReplyMessage): void {
    const sent = this.#sent.get(id);
    this.#sent.delete(id);
    if (sent === undefined || sent.peer !== peer) return;
    const rttMs = this.#context.clock.monotonicMs() - sent.atMs;
    peer.rttMs = peer.rttMs === undefined ? rttMs : peer.rttMs + rttGain * (rttMs - peer.rttMs);
    peer.rttPeakMs = Math.max(peer.rttPeakMs ?? 0, rttMs);
    if (wallMs !== undefined) this.#checkClock(peer, wallMs, rttMs);
  }

  /** Handles a peer's heartbeat: compares digests. Returns true once the digests have differed in `mismatchesMax` successive heartbeats. */
  received(peer: Peer, message: HeartbeatMessage): boolean {
    const { journal, problems, log } = this.#context;
    const member = this.#peers.nameOf(peer.id);
    const comparable = compareVectors(message.known, journal.known()) === 'equal';
    if (!comparable) return false;
    if (message.digest === journal.digest()) {
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

  /** Sends one heartbeat now, to all peers or only to one. */
  async send(only?: Peer): Promise<void> {
    const { clock, journal, problems, self } = this.#context;
    const vitals = await this.#vitals();
    if (this.#stopped) return;
    const counts = journal.counts();
    const latenciesMs: Record<MemberId, number> = {};
    for (const peer of this.#peers.ready()) {
      if (peer.rttMs !== undefined) latenciesMs[peer.id] = Math.round(peer.rttMs * 100) / 100;
    }
    const common = {
      type: 'heartbeat',
      wallMs: clock.wallMs(),
      ...vitals,
      known: journal.known(),
      marks: journal.marks(),
      applied: journal.applied(),
      digest: journal.digest(),
      pending: counts.pending,
      files: counts.disk.files,
      bytes: counts.disk.bytes,
      problems: problems.count,
      trouble: problems.worst()?.code,
      webhook: self.webhook,
      latenciesMs,
    } as const;
    for (const peer of only ? [only] : this.#peers.ready()) {
      const id = ++this.#id;
      this.#sent.set(id, { peer, atMs: clock.monotonicMs() });
      peer.link?.send({ ...common, id });
    }
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
        peer.link.close(`nothing was heard from it for ${downAfterMs / 1000} s`);
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
      writeIfRoom(() => this.#context.journal.saveAck(peer.id, peer.applied));
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
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      const detail =
        `The clock of ${member} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this one. ` +
        'No data is lost, but in a conflict the wrong version may keep the name: synchronize both clocks with NTP.';
      problems.set('clock-skew', { member }, detail);
    }
  }
}

import type {
  AckMessage,
  Applied,
  HeartbeatMessage,
  HelloMessage,
  LeaveMessage,
  MemberId,
  MemberRecord,
  MemberState,
  OriginId,
  PeerMessage,
  VersionVector,
} from '@lockstep/shared';
import { membersMax } from '@lockstep/shared';
import { AckTrail } from '../core/ack-trail.ts';
import { peerState, shouldKeepLink } from '../core/membership.ts';
import { RateMeter } from '../core/rate-meter.ts';
import { SpanTrail } from '../core/span-trail.ts';
import type { Context } from './context.ts';
import type { Link } from './ports/network.ts';

const emptyApplied: Applied = { vector: {}, ranges: {} };

/** Acknowledgements and frames whose moments are kept for each member: some hundred kilobytes, the last seconds of a flood. */
export const trailSpansMax = 1_024;

/** What this member knows of another one; it outlives sessions. */
export class Peer {
  readonly id: MemberId;
  link: Link | undefined;
  hello: HelloMessage | undefined;
  heartbeat: HeartbeatMessage | undefined;
  known: VersionVector = {};
  applied: Applied;
  #heardBytes = 0;
  /** Smoothed round trip. */
  rttMs: number | undefined;
  lastHeardMs: number | undefined;
  /** How far its clock is ahead of ours. */
  clockSkewMs: number | undefined;
  /** When the state last changed, wall clock, and to what. */
  state: MemberState = 'down';
  stateSince: number;
  lastError: string | undefined;
  /** It said goodbye, and has not come back. */
  stopped = false;
  /** It stopped taking part because it was paused, not because its agent was stopped. */
  paused = false;
  /** Bytes of file contents sent to it and received from it. */
  readonly sent = new RateMeter();
  readonly received = new RateMeter();
  /** Wall clock: when operations were sent to it, and when it was heard to know them and to hold them. */
  readonly sentAt = new SpanTrail(trailSpansMax);
  readonly knownAt = new AckTrail(trailSpansMax);
  readonly appliedAt = new AckTrail(trailSpansMax);

  constructor(id: MemberId, applied: Applied | undefined, nowWallMs: number) {
    this.id = id;
    this.applied = applied ?? emptyApplied;
    this.stateSince = nowWallMs;
  }

  /** A message came. */
  heard(nowMs: number): void {
    this.lastHeardMs = nowMs;
    this.#heardBytes = this.link?.receivedBytes() ?? 0;
  }

  /** Who sends a large message over a slow line is not silent, though nothing of it is whole yet. */
  noteBytes(nowMs: number): void {
    if (this.link !== undefined && this.link.receivedBytes() > this.#heardBytes) this.heard(nowMs);
  }

  /** Connected, and has said hello. */
  get ready(): boolean {
    return this.link !== undefined && this.hello !== undefined;
  }

  get origin(): OriginId | undefined {
    return this.hello?.origin;
  }

  get enabledAt(): number | undefined {
    return this.heartbeat?.enabledAt ?? this.hello?.enabledAt;
  }
}

/** What the loops do with sessions and what comes over them. */
export interface PeerHandlers {
  /** A session is up and the other side has said hello. */
  ready(peer: Peer): void;
  message(peer: Peer, message: PeerMessage): void;
  /** The session ended. */
  closed(peer: Peer, link: Link, reason: string): void;
  helloMessage(): HelloMessage;
}

/** All other members: at most one session with each, and what is known of each. */
export class Peers {
  readonly #context: Context;
  readonly #handlers: PeerHandlers;
  readonly #peers = new Map<MemberId, Peer>();
  #paused = false;
  #stopped = false;

  constructor(context: Context, handlers: PeerHandlers) {
    this.#context = context;
    this.#handlers = handlers;
    const acks = context.journal.acks();
    for (const record of context.journal.members()) {
      if (record.id !== context.self.id) this.#create(record.id, acks[record.id]);
    }
  }

  all(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  /** Those with a session that has begun. */
  ready(): readonly Peer[] {
    return this.all().filter((peer) => peer.ready);
  }

  get(id: MemberId): Peer | undefined {
    return this.#peers.get(id);
  }

  record(id: MemberId): MemberRecord | undefined {
    return this.#context.journal.members().find((record) => record.id === id);
  }

  /** A name for people: the member's own, or the start of its id. */
  nameOf(id: MemberId): string {
    if (id === this.#context.self.id) return this.#context.self.name;
    return this.record(id)?.name ?? this.#peers.get(id)?.hello?.name ?? id.slice(0, 8);
  }

  /** What the events tell of a member. */
  about({ id, lastError }: Peer): Record<string, unknown> {
    return { member: id, name: this.nameOf(id), reason: lastError };
  }

  /** Takes over a new session, dialled by either side. */
  accept(link: Link): void {
    if (this.#stopped) {
      link.close('this member is stopping');
      return;
    }
    if (this.#paused) {
      link.start({ message: () => undefined, closed: () => undefined });
      sendPaused(link);
      return;
    }
    if (!this.#peers.has(link.peer) && this.#peers.size >= membersMax) {
      link.close(`the cluster already has ${membersMax} members`);
      return;
    }
    const peer = this.#peers.get(link.peer) ?? this.#create(link.peer, undefined);
    const existing = peer.link;
    if (existing !== undefined) {
      if (shouldKeepLink(existing, link, this.#context.self.id, peer.id)) {
        link.start({ message: () => undefined, closed: () => undefined });
        link.close('another session with this member is already open');
        return;
      }
      this.#drop(peer, 'replaced by a newer session');
      existing.close('replaced by a newer session');
    }
    peer.link = link;
    peer.hello = undefined;
    peer.heard(this.#context.clock.monotonicMs());
    link.start({
      message: (message) => {
        if (peer.link === link) this.#received(peer, message);
      },
      closed: (reason) => {
        if (peer.link === link) this.#drop(peer, reason);
      },
    });
    link.send(this.#handlers.helloMessage());
  }

  /** Sends to everyone whose session has begun. */
  broadcast(message: PeerMessage): void {
    for (const peer of this.ready()) peer.link?.send(message);
  }

  /** Recomputes each member's state; calls `changed` for those that differ from before. */
  refreshStates(changed: (peer: Peer, before: MemberState) => void): void {
    const { clock, journal } = this.#context;
    const standings = new Map(journal.members().map((record) => [record.id, record.standing]));
    for (const peer of this.#peers.values()) {
      const state = peerState({
        standing: standings.get(peer.id) ?? 'joined',
        connected: peer.ready,
        stopped: peer.stopped,
        saidState: peer.heartbeat?.state ?? peer.hello?.state,
        silentMs: peer.lastHeardMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - peer.lastHeardMs,
      });
      if (state === peer.state) continue;
      const before = peer.state;
      peer.state = state;
      peer.stateSince = clock.wallMs();
      changed(peer, before);
    }
  }

  /** Members that were learned of through the journal. */
  learn(): void {
    for (const record of this.#context.journal.members()) {
      if (record.id !== this.#context.self.id && !this.#peers.has(record.id)) this.#create(record.id, undefined);
    }
  }

  /** Ends all sessions and takes no new one until `resume`; the others are told why. */
  pause(): void {
    this.#paused = true;
    for (const { link } of this.#peers.values()) if (link !== undefined) sendPaused(link);
  }

  resume(): void {
    this.#paused = false;
  }

  stop(reason: string): void {
    this.#stopped = true;
    for (const peer of this.#peers.values()) peer.link?.close(reason);
  }

  #create(id: MemberId, applied: Applied | undefined): Peer {
    const peer = new Peer(id, applied, this.#context.clock.wallMs());
    this.#peers.set(id, peer);
    return peer;
  }

  #received(peer: Peer, message: PeerMessage): void {
    peer.heard(this.#context.clock.monotonicMs());
    switch (message.type) {
      case 'hello':
        peer.hello = message;
        peer.heartbeat = undefined;
        this.#acknowledged(peer, message);
        peer.lastError = undefined;
        peer.stopped = false;
        peer.paused = false;
        this.#handlers.ready(peer);
        return;
      case 'leave':
        peer.stopped = true;
        peer.paused = message.paused === true;
        peer.link?.close(goodbye(message));
        return;
      case 'ack':
        this.#acknowledged(peer, message);
        break;
      case 'heartbeat':
        this.#acknowledged(peer, message);
        peer.heartbeat = message;
        break;
      default:
        break;
    }
    // Nothing counts before the hello: a session that begins with anything else is not one of ours.
    if (peer.hello === undefined) peer.link?.close('the first message was not a hello');
    else this.#handlers.message(peer, message);
  }

  #acknowledged(peer: Peer, { known, applied }: Pick<AckMessage, 'known' | 'applied'>): void {
    const atMs = this.#context.clock.wallMs();
    peer.known = known;
    peer.applied = applied;
    peer.knownAt.noteVector(known, atMs);
    peer.appliedAt.note(applied, atMs);
  }

  #drop(peer: Peer, reason: string): void {
    const { link } = peer;
    peer.link = undefined;
    peer.lastError = reason;
    const wasReady = peer.hello !== undefined;
    peer.heartbeat = undefined;
    if (wasReady && link) this.#handlers.closed(peer, link, reason);
  }
}

/** Whoever is paused says only this, whether or not the session has begun. */
function sendPaused(link: Link): void {
  link.send({ type: 'leave', retire: false, paused: true });
  link.close('the member is paused');
}

function goodbye({ retire, paused }: LeaveMessage): string {
  if (retire) return 'the member left the cluster';
  return paused === true ? 'the member is paused' : 'the member stopped';
}

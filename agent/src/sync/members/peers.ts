import type { Applied, HelloMessage, MemberId, MemberRecord, PeerMessage } from '@lockstep/shared';
import { suspectAfterMs } from '@lockstep/shared';
import { peerState, shouldKeepLink } from '../../core/membership.ts';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import { replacedReason, replacingReason, SessionFailures, stableSessionMs } from '../state/session-failures.ts';
import { Admission, refuse } from './admission.ts';
import { Agreement, type Claim } from './agreement.ts';
import { type PassedOn, Peer } from './peer.ts';

/** So much of an id is shown to people. */
const idStartLength = 8;

/** Callbacks for sessions and their messages. */
export interface PeerHandlers {
  /** The other side sent a message over `link`, which another one may have replaced since. */
  message(peer: Peer, link: Link, message: PeerMessage): void;
  /** The session ended. */
  closed(peer: Peer, link: Link, reason: string): void;
  helloMessage(): HelloMessage;
}

/** All other members: the state of each, and at most one session with each. */
export class Peers {
  readonly #context: Context;
  readonly #handlers: PeerHandlers;
  readonly #peers = new Map<MemberId, Peer>();
  readonly failures: SessionFailures;
  readonly #admission: Admission;
  /** The time since which this member listens to others. Members that it has not heard since may be about to answer. */
  #beganMs: number;
  #size = 1;
  #paused = false;
  #stopped = false;

  constructor(context: Context, handlers: PeerHandlers) {
    this.#context = context;
    this.#handlers = handlers;
    this.#beganMs = context.clock.monotonicMs();
    this.failures = new SessionFailures(context.clock, context.problems);
    this.#admission = new Admission(context, this);
    context.facts.received.on(() => this.judgeAgain());
    const acks = context.journal.acks.all();
    for (const record of context.journal.members.all()) {
      if (record.id !== context.self.id) this.#create(record.id, acks[record.id]);
    }
  }

  /** The number of members that did not leave, this one included. */
  get size(): number {
    return this.#size;
  }

  all(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  /** The members with a session that has begun. */
  ready(): readonly Peer[] {
    return this.all().filter((peer) => peer.ready);
  }

  get(id: MemberId): Peer | undefined {
    return this.#peers.get(id);
  }

  record(id: MemberId): MemberRecord | undefined {
    return this.#context.journal.members.all().find((record) => record.id === id);
  }

  /** True for a member that has, or may have, the contents of some files only: for one that was never heard this is unknown. */
  isOnDemand(id: MemberId): boolean {
    const hello = this.#peers.get(id)?.hello;
    // Its acknowledgements may overtake the operation that changes its record.
    if (hello !== undefined) return hello.onDemand === true;
    const record = this.record(id);
    return record === undefined || record.onDemand === true;
  }

  /** The name to show to people: the member's own, or the start of its id. */
  nameOf(id: MemberId): string {
    if (id === this.#context.self.id) return this.#context.self.name;
    return this.record(id)?.name ?? this.#peers.get(id)?.hello?.name ?? id.slice(0, idStartLength);
  }

  /** The word by which a command takes the member: its name, or the start of its id if another member has that name. */
  wordFor(id: MemberId): string {
    const name = this.nameOf(id);
    const others = this.#context.journal.members.all().filter((other) => other.id !== id);
    if (others.every((other) => other.name !== name)) return name;
    let length = idStartLength;
    while (length < id.length && others.some((other) => other.id.startsWith(id.slice(0, length)))) length++;
    return id.slice(0, length);
  }

  /** Ends all sessions. */
  closeAll(reason: string): void {
    for (const { link } of this.all()) link?.close(reason);
  }

  /** The data of events about a member. */
  about({ id, lastError }: Peer): Record<string, unknown> {
    return { member: id, name: this.nameOf(id), reason: lastError };
  }

  /** Accepts or refuses a new session, dialled by either side. */
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
    const refusal = this.#admission.refusal(link);
    if (refusal !== undefined) {
      refuse(link, refusal.reason, refusal.isFault);
      return;
    }
    const peer = this.#peers.get(link.peer) ?? this.#create(link.peer, undefined);
    const existing = peer.link;
    if (existing !== undefined) {
      if (shouldKeepLink(existing, link, this.#context.self.id, peer.id)) {
        refuse(link, 'another session with this member is already open');
        return;
      }
      // If two sides dial each other at the same time, no session that has begun is replaced.
      if (peer.helloMs !== undefined) this.#ended(peer, replacingReason, false);
      this.#drop(peer, replacedReason);
      existing.close(replacedReason);
    }
    peer.link = link;
    peer.hello = undefined;
    peer.helloMs = undefined;
    peer.heard(this.#context.clock.monotonicMs());
    // Sent before `start`, which delivers waiting messages and so may send answers: the hello must be the first message.
    link.send(this.#handlers.helloMessage());
    link.start({
      message: (message) => this.#handlers.message(peer, link, message),
      closed: (reason, isFault) => {
        if (peer.link !== link) return;
        this.#ended(peer, reason, isFault);
        this.#drop(peer, reason);
      },
    });
  }

  /** Counts the end of the member's present session as a failure, unless it was intended. */
  #ended({ id, helloMs, stopped }: Peer, reason: string, isFault: boolean): void {
    if (stopped || this.#stopped || this.#paused) return;
    const lastedMs = helloMs === undefined ? undefined : this.#context.clock.monotonicMs() - helloMs;
    this.failures.ended(id, this.nameOf(id), { reason, isFault, lastedMs });
  }

  /** Sends a message to all members whose session has begun. */
  broadcast(message: PeerMessage): void {
    for (const peer of this.ready()) peer.link?.send(message);
  }

  /** Recomputes each member's state, and publishes `membersChanged` if any has changed. */
  refreshStates(): void {
    const { clock, journal, events, facts } = this.#context;
    const memberships = new Map(journal.members.all().map((record) => [record.id, record.membership]));
    let hasChanged = this.#forgetStrangers(memberships);
    this.#size = 1 + [...this.#peers.keys()].filter((id) => memberships.get(id) !== 'left').length;
    const silenceMs = suspectAfterMs(this.#size);
    for (const peer of this.#peers.values()) {
      peer.dropOldReport(clock.monotonicMs(), silenceMs);
      const state = peerState({
        membership: memberships.get(peer.id) ?? 'joined',
        connected: peer.ready || peer.passedOn !== undefined,
        stopped: peer.stopped,
        saidState: peer.said?.state ?? peer.hello?.state,
        silentMs: this.silentMs(peer),
        suspectAfterMs: silenceMs,
      });
      if (state === peer.state) continue;
      peer.state = state;
      peer.stateSince = clock.wallMs();
      if (state === 'down' || state === 'left') events.add(state, this.about(peer));
      const removal = this.#admission.removalReason(peer.id);
      if (removal !== undefined) peer.link?.close(removal, true);
      hasChanged = true;
    }
    if (hasChanged) facts.membersChanged.publish();
  }

  /**
   * Drops peers that never joined: no list names them, and they are silent. Such a peer is a probe of `lockstep doctor`, or a newcomer that
   * ended at once. No `wait` could end with it, and no command could remove it. Returns true if there were any.
   */
  #forgetStrangers(listed: ReadonlyMap<MemberId, unknown>): boolean {
    const strangers = this.all().filter(({ id, link }) => link === undefined && !listed.has(id));
    // Of two members that dial each other at once, the first session ends before the second one has its hello.
    const silent = strangers.filter((peer) => this.silentMs(peer) >= suspectAfterMs(this.#size));
    for (const { id } of silent) this.#peers.delete(id);
    return silent.length > 0;
  }

  /** Adds members that are new in the journal's member list. */
  learn(): void {
    for (const record of this.#context.journal.members.all()) {
      if (record.id !== this.#context.self.id && !this.#peers.has(record.id)) this.#create(record.id, undefined);
    }
  }

  /** Clears the failures of members with a lasting session, and of members that left. Must be called regularly. */
  checkSessions(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const { id, ready, helloMs, state } of this.#peers.values()) {
      const isStable = ready && helloMs !== undefined && nowMs - helloMs >= stableSessionMs;
      if (isStable || state === 'left') this.failures.over(id);
    }
    this.failures.expire();
  }

  /** True while this member is paused. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /** Ends all sessions and accepts no new one until `resume`; the others receive the reason. */
  pause(): void {
    this.#paused = true;
    for (const { link } of this.#peers.values()) if (link !== undefined) sendPaused(link);
  }

  resume(): void {
    this.#paused = false;
    this.#beganMs = this.#context.clock.monotonicMs();
  }

  /** Whether the peer was heard, directly or through another member, since this member began to listen. */
  wasHeard({ lastHeardMs, passedOn }: Peer): boolean {
    return passedOn !== undefined || (lastHeardMs !== undefined && lastHeardMs >= this.#beganMs);
  }

  /** Milliseconds since the peer was heard, directly or through another member, or since this member began to listen. */
  silentMs({ lastHeardMs, passedOn }: Peer): number {
    return this.#context.clock.monotonicMs() - Math.max(lastHeardMs ?? 0, passedOn?.atMs ?? 0, this.#beganMs);
  }

  stop(reason: string): void {
    this.#stopped = true;
    for (const peer of this.#peers.values()) peer.link?.close(reason);
  }

  #create(id: MemberId, applied: Applied | undefined): Peer {
    const { clock, journal } = this.#context;
    const peer = new Peer(id, { agreement: new Agreement(journal), applied, nowWallMs: clock.wallMs() });
    this.#peers.set(id, peer);
    return peer;
  }

  /** Takes a report that another member passed on about a peer without a session. */
  passedOn(peer: Peer, passedOn: PassedOn): void {
    peer.heardFrom(passedOn);
    this.acknowledged(peer, passedOn.said);
    this.refreshStates();
  }

  /** Judges the peer's last claim again, because the journal has changed. */
  judge(peer: Peer): void {
    if (peer.claim !== undefined) this.acknowledged(peer, peer.claim);
  }

  /** Takes over what the peer says of the operations that it has. */
  acknowledged(peer: Peer, claim: Claim): void {
    peer.acknowledge(claim, this.#context.clock.wallMs());
    this.#context.others.heard(peer.id, peer.applied);
  }

  /** Judges claims again after the journal changed: they may be comparable now. */
  judgeAgain(): void {
    const heard = this.all().filter((peer) => peer.ready || peer.passedOn !== undefined);
    for (const peer of heard) if (peer.agreement.isBehind) this.judge(peer);
  }

  #drop(peer: Peer, reason: string): void {
    const { link } = peer;
    peer.link = undefined;
    peer.lastError = reason;
    const wasReady = peer.hello !== undefined;
    peer.heartbeat = undefined;
    peer.lastHoldings = peer.holdings ?? peer.lastHoldings;
    peer.holdings = undefined;
    if (wasReady && link) this.#handlers.closed(peer, link, reason);
    this.#context.facts.linkEnded.publish();
  }
}

/** Ends a session because of a pause: this is the only message of a paused member, whether or not the session has begun. */
function sendPaused(link: Link): void {
  link.send({ type: 'leave', retire: false, paused: true });
  link.close('the member is paused');
}

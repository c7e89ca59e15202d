import type {
  FlippedMessage,
  HelloMessage,
  HoldingsMessage,
  LeaveMessage,
  OriginId,
  PeerMessage,
  RetellMessage,
} from '@lockstep/shared';
import type { Departures } from '../measurements/departures.ts';
import type { Forks } from '../members/forks.ts';
import type { OwnOrigin } from '../members/own-origin.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Reports } from '../members/reports.ts';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import { differingReason, sealedReason } from '../state/session-failures.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { ContentSearch } from '../transfer/content-search.ts';
import { ContentServer } from '../transfer/content-server.ts';
import type { CatchUp } from './catch-up.ts';
import type { HeartbeatLoop } from './heartbeat.ts';
import type { Incoming } from './incoming.ts';
import { type ContentPlacement, NeededBytes } from './needed-bytes.ts';
import { Outgoing } from './outgoing.ts';

/** A fork is sealed within this time: one round trip, and the repair at the other side. Less than the time of a short session. */
const repairMsMax = 5_000;

/** The tasks that run for one peer during a session. */
interface Session {
  readonly outgoing: Outgoing;
  readonly server: ContentServer;
}

/** Receives the reports of members on demand about their contents. */
interface HoldingsReceiver {
  received(peer: Peer, message: HoldingsMessage | FlippedMessage | RetellMessage): void;
}

/** The loops that serve all sessions. */
export interface SessionLoops {
  readonly peers: Peers;
  readonly incoming: Incoming;
  readonly catchUp: CatchUp;
  readonly transfers: ContentFetcher;
  readonly search: ContentSearch;
  readonly departures: Departures;
  readonly heartbeat: HeartbeatLoop;
  readonly holdings: HoldingsReceiver;
  readonly reports: Reports;
  readonly forks: Forks;
  readonly ownOrigin: OwnOrigin;
  readonly placement: ContentPlacement;
}

/** The sessions with all peers: starts and stops the tasks of each, and handles each message or passes it to its loop. */
export class Sessions {
  readonly #context: Context;
  readonly #loops: SessionLoops;
  readonly #sessions = new Map<Peer, Session>();
  /** The fork that this member last reported to a peer, instead of a session with it. */
  readonly #reported = new Map<Peer, OriginId>();
  #stopped = false;

  constructor(context: Context, loops: SessionLoops) {
    this.#context = context;
    this.#loops = loops;
    context.facts.made.on(() => this.poke());
  }

  /** Ignores further messages, and does not report sessions that end. */
  stop(): void {
    this.#stopped = true;
  }

  /** Wakes all sessions: there are new operations of this member to send. */
  poke(): void {
    for (const { outgoing } of this.#sessions.values()) outgoing.poke();
  }

  /** Starts the tasks of a session: the other side has sent its hello. */
  #open(peer: Peer): void {
    const { link } = peer;
    const { clock, journal, events, facts } = this.#context;
    const { peers, catchUp, departures, forks, ownOrigin, transfers, placement } = this.#loops;
    if (link === undefined || peer.hello === undefined) return;
    // Before a seal: what that repeats takes numbers of this member.
    if (ownOrigin.renewIfOutdated(peer)) return;
    const { origin } = journal;
    forks.seal(peer.hello.sealed);
    // Left from a crash between the journaling of an operation and the seal.
    forks.sealContradicted();
    // A new incarnation ends all sessions.
    if (journal.origin !== origin) return;
    if (Object.keys(journal.seals.all()).length > 0) link.send({ type: 'sealed', origins: journal.seals.all() });
    if (peer.forked !== undefined) {
      this.#reportFork(peer, peer.forked);
      return;
    }
    this.#reported.delete(peer);
    ownOrigin.heard(peer);
    const sent = (bytes: number): void => peer.sent.add(bytes, clock.monotonicMs());
    const needed = new NeededBytes(peer, placement);
    this.#sessions.set(peer, {
      outgoing: new Outgoing(this.#context, link, {
        carries: (operation) => needed.includes(operation),
        sent,
        pushed: (operations) => peer.sentAt.addAll(operations, clock.wallMs()),
      }),
      server: new ContentServer(this.#context, link, {
        sent: (file, bytes) => {
          sent(bytes);
          departures.sent(peer, file, bytes);
        },
        limited: (change) => {
          peer.limitedBlocks += change;
        },
        isStaged: (content) => transfers.hasStaged(content),
      }),
    });
    events.add('joined', { ...peers.about(peer), reason: undefined, remote: link.remote });
    catchUp.ready(peer);
    peers.refreshStates();
    facts.sessionOpened.publish(peer.id);
  }

  /** Stops the tasks of the session over `link`, which has ended. */
  close(peer: Peer, link: Link, reason: string): void {
    const { events, facts } = this.#context;
    const { peers, incoming, transfers, catchUp } = this.#loops;
    const session = this.#sessions.get(peer);
    session?.outgoing.close();
    session?.server.close();
    this.#sessions.delete(peer);
    incoming.closed(link);
    if (this.#stopped) return;
    events.add('away', { ...peers.about(peer), reason });
    transfers.exchange.closed(peer);
    catchUp.closed(peer);
    peers.refreshStates();
    facts.sessionClosed.publish(peer.id);
  }

  #reportFork(peer: Peer, origin: OriginId): void {
    this.#reported.set(peer, origin);
    this.#loops.forks.report(peer, origin);
  }

  /**
   * Handles a `sealed` of a peer whose logs differ from this member's: reports the next fork, or ends the link, so that a session can
   * begin. The link stays if the peer has not sealed the reported fork: it sends all seals when it opens the session, and when it sets
   * another one. Its answer to the report follows.
   */
  #continueRepair(peer: Peer): void {
    this.#loops.peers.judge(peer);
    if (peer.forked === undefined) peer.link?.close(sealedReason);
    else if (peer.forked !== this.#reported.get(peer)) this.#reportFork(peer, peer.forked);
  }

  /** Ends a link whose fork is not sealed in time: the next attempt starts again, and repeated ones are reported. */
  #endOverdueRepair({ link, helloMs }: Peer): void {
    if (helloMs !== undefined && this.#context.clock.monotonicMs() - helloMs >= repairMsMax)
      link?.close(differingReason);
  }

  /** Handles a message of a peer, that begins or ends a session or is part of one. */
  message(peer: Peer, link: Link, message: PeerMessage): void {
    if (peer.link !== link) return;
    const nowMs = this.#context.clock.monotonicMs();
    peer.heard(nowMs);
    if (message.type === 'hello') {
      peer.begin(message, nowMs);
      this.#loops.peers.acknowledged(peer, message);
      this.#open(peer);
      return;
    }
    if (message.type === 'leave') {
      peer.stopped = true;
      peer.paused = message.paused === true;
      this.#loops.peers.failures.over(peer.id);
      link.close(goodbye(message));
      return;
    }
    if (message.type === 'ack' || message.type === 'heartbeat') this.#loops.peers.acknowledged(peer, message);
    if (message.type === 'heartbeat') peer.heartbeat = message;
    if (message.type === 'heartbeat' || message.type === 'pulse') peer.heartbeatMs = nowMs;
    // The hello must come first: a session that begins with another message breaks the protocol.
    if (peer.hello === undefined) link.close('the first message was not a hello', true);
    else if (!this.#stopped) this.#passOn(peer, message);
  }

  /** Passes a message to the loop that handles it. */
  #passOn(peer: Peer, message: Exclude<PeerMessage, HelloMessage | LeaveMessage>): void {
    const session = this.#sessions.get(peer);
    const { forks, ownOrigin } = this.#loops;
    // The peer may have learned the lost numbers since its hello.
    if (ownOrigin.renewIfOutdated(peer)) return;
    if (message.type === 'fork') forks.reported(peer, message);
    if (message.type === 'sealed') {
      forks.seal(message.origins);
      if (session === undefined) this.#continueRepair(peer);
    }
    if (session === undefined) {
      if (message.type === 'heartbeat' || message.type === 'pulse') this.#endOverdueRepair(peer);
      return;
    }
    if (peer.forked !== undefined) {
      peer.link?.close(differingReason);
      return;
    }
    ownOrigin.heard(peer);
    const { outgoing, server } = session;
    const { incoming, catchUp, transfers, search, heartbeat, holdings, reports } = this.#loops;
    switch (message.type) {
      case 'subscribe':
        outgoing.subscribe(message.origin, message.after, peer.known);
        return;
      case 'operations':
        catchUp.progressed(peer);
        incoming.operations(peer, message);
        return;
      case 'received':
        outgoing.received(message.id);
        return;
      case 'pull':
        outgoing.pull(message.id, message.known);
        return;
      case 'pulled':
        catchUp.pulled(peer, message);
        return;
      case 'want':
        server.want(message);
        return;
      case 'withdraw':
        server.withdraw(message.ids);
        return;
      case 'block':
        if (!search.block(peer, message.id)) transfers.exchange.block(peer, message.id, message.bytes);
        return;
      case 'missing':
        if (!search.missing(peer, message)) transfers.exchange.missing(peer, message);
        return;
      case 'have':
        transfers.exchange.have(peer, message);
        return;
      case 'holdings':
      case 'flipped':
      case 'retell':
        holdings.received(peer, message);
        return;
      case 'ack':
        this.#context.facts.acknowledged.publish();
        return;
      case 'heartbeat':
      case 'pulse':
        if (heartbeat.received(peer, message)) forks.compareAll(peer);
        this.#loops.peers.refreshStates();
        return;
      case 'report':
        reports.received(peer, message);
        return;
      // These were handled above.
      case 'fork':
      case 'sealed':
        return;
    }
  }
}

function goodbye({ retire, paused }: LeaveMessage): string {
  if (retire) return 'the member left the cluster';
  return paused === true ? 'the member is paused' : 'the member stopped';
}

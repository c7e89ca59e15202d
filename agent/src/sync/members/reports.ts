import type { ReportMessage } from '@lockstep/shared';
import { suspectAfterMs } from '@lockstep/shared';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import type { Peer } from './peer.ts';
import type { Peers } from './peers.ts';

/** The number of members that pass on the reports of one pair. The second one is for the case that the first one goes. */
const reportersMax = 2;
/** The age of a session from which on a missing round trip means a missing session: before, it may not be measured yet. */
const measuredAfterMs = 3_000;

/**
 * Passes on what this member last heard from others, each second, to those that have no session with them. So the members of a pair
 * that is cut off know each other's state, and can wait for each other's disks.
 */
export class Reports {
  readonly #context: Context;
  readonly #peers: Peers;
  /** The members about which a receiver already knows that they left in order, and how. */
  readonly #toldGone = new WeakMap<Link, Map<Peer, ReportMessage['gone']>>();

  constructor(context: Context, peers: Peers) {
    this.#context = context;
    this.#peers = peers;
    context.facts.second.on(() => this.send());
  }

  /** Sends what each peer lacks. */
  send(): void {
    const ready = this.#peers.ready();
    for (const to of ready) {
      for (const about of this.#peers.all()) {
        if (about === to || about.state === 'left') continue;
        if (about.ready) this.#pass(to, about, ready);
        else this.#passGone(to, about);
      }
    }
  }

  /** Handles a report that `by` passed on. */
  received(by: Peer, { member, session, agoMs, said, gone }: ReportMessage): void {
    const about = this.#peers.get(member);
    if (about === undefined || about === by || about.link !== undefined || about.state === 'left') return;
    const atMs = this.#context.clock.monotonicMs() - agoMs;
    const before = about.passedOn;
    if (said !== undefined) {
      if (before !== undefined && before.by !== by && before.atMs > atMs) return;
      this.#peers.passedOn(about, { by, sessionMs: by.helloMs, session, said, atMs });
      this.#context.facts.acknowledged.publish();
      return;
    }
    // A member that others still hear has returned since.
    if (gone === undefined || (before !== undefined && before.by !== by)) return;
    about.passedOn = undefined;
    about.stopped = true;
    about.paused = gone === 'paused';
    this.#peers.refreshStates();
  }

  #pass(to: Peer, about: Peer, ready: readonly Peer[]): void {
    const { heartbeat, claim } = about;
    const nowMs = this.#context.clock.monotonicMs();
    if (heartbeat === undefined || claim === undefined || about.heartbeatMs === undefined) return;
    if (!lacks(to, about, nowMs) || !lacks(about, to, nowMs)) return;
    if (nowMs - about.heartbeatMs >= suspectAfterMs(this.#peers.size) || !this.#isReporter(to, about, ready)) return;
    const { type, id, wallMs, ...said } = heartbeat;
    to.link?.send({
      type: 'report',
      member: about.id,
      session: about.sessions,
      agoMs: nowMs - about.heartbeatMs,
      said: { ...said, ...claim },
    });
  }

  /** Whether this member is one of the first, by id, that have a session with both. */
  #isReporter(a: Peer, b: Peer, ready: readonly Peer[]): boolean {
    const earlier = ready.filter(({ id, heartbeat }) => {
      const ends = heartbeat?.latenciesMs;
      return id < this.#context.self.id && ends?.[a.id] !== undefined && ends[b.id] !== undefined;
    });
    return earlier.length < reportersMax;
  }

  #passGone(to: Peer, about: Peer): void {
    if (!about.stopped || to.link === undefined) return;
    const gone = about.paused ? 'paused' : 'stopped';
    const told = this.#toldGone.get(to.link) ?? new Map<Peer, ReportMessage['gone']>();
    if (told.get(about) === gone) return;
    this.#toldGone.set(to.link, told.set(about, gone));
    to.link.send({ type: 'report', member: about.id, session: about.sessions, agoMs: 0, gone });
  }
}

/** True if `from` has had the time to measure a session with `to`, and has none. */
function lacks(from: Peer, to: Peer, nowMs: number): boolean {
  const { heartbeat, helloMs } = from;
  if (heartbeat === undefined || helloMs === undefined || nowMs - helloMs < measuredAfterMs) return false;
  return heartbeat.latenciesMs[to.id] === undefined;
}

import { type MemberId, membersMax, removalReason } from '@lockstep/shared';
import type { Link } from '../ports/network.ts';
import type { Context } from '../state/context.ts';
import type { SessionFailures } from '../state/session-failures.ts';
import type { Peer } from './peer.ts';
import { removerOf } from './remover.ts';

/** How long a refusal is reported: a refused member retries within this time. */
const fullLastsMs = 180_000;

/** The other members, as an admission sees them. */
interface OtherMembers {
  readonly failures: SessionFailures;
  get(id: MemberId): Peer | undefined;
  all(): readonly Peer[];
  nameOf(id: MemberId): string;
  wordFor(id: MemberId): string;
}

/** Says which members may have a session: all but removed ones, those that failed a moment ago, and those above the limit. */
export class Admission {
  readonly #context: Context;
  readonly #peers: OtherMembers;

  constructor(context: Context, peers: OtherMembers) {
    this.#context = context;
    this.#peers = peers;
  }

  /** Why a new session is refused; undefined if it is accepted. */
  refusal(link: Link): { readonly reason: string; readonly isFault: boolean } | undefined {
    const tooEarly = link.dialled ? undefined : this.#peers.failures.refusal(link.peer);
    if (tooEarly !== undefined) return { reason: tooEarly, isFault: false };
    const removal = this.removalReason(link.peer);
    if (removal !== undefined) return { reason: removal, isFault: true };
    const memberships = new Map(this.#context.journal.members.all().map(({ id, membership }) => [id, membership]));
    if (memberships.get(link.peer) === 'joined' || this.#peers.get(link.peer)?.link !== undefined) return undefined;
    // Members that left do not count, nor does one that is neither in the list nor connected.
    const others = this.#peers.all().filter(({ id, link }) => memberships.get(id) === 'joined' || link !== undefined);
    if (others.length + 1 < membersMax) return undefined;
    this.#reportFull(others);
    return { reason: `the cluster already has ${membersMax} members`, isFault: true };
  }

  /** Why a session with a removed member is refused or ended; undefined if it was not removed. */
  removalReason(id: MemberId): string | undefined {
    const remover = removerOf(this.#context.journal, id);
    return remover && removalReason(this.#peers.nameOf(remover), this.#peers.wordFor(id));
  }

  /** Reports a full cluster, and names the members that are not connected: these may be lost. */
  #reportFull(others: readonly Peer[]): void {
    const away = others.filter(({ link }) => link === undefined).map(({ id }) => this.#peers.wordFor(id));
    const detail =
      `A member was refused: the cluster already has ${membersMax} members. ` +
      (away.length === 0 ? 'All of them are connected. ' : `Not connected now: ${away.join(', ')}. `) +
      'Retire those that are not needed: lockstep leave on their machines, or lockstep remove NAME for one that is lost.';
    this.#context.problems.set('cluster-full', {}, detail, fullLastsMs);
  }
}

/** Ends a session that is not accepted. */
export function refuse(link: Link, reason: string, isFault = false): void {
  link.start({ message: () => undefined, closed: () => undefined });
  link.close(reason, isFault);
}

import { joinIntervalMs, type MemberId, parseHostPort } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import type { Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
import type { Link, Network } from '../ports/network.ts';
import type { Context } from '../state/context.ts';

/** How long a refusal is reported: a refused member retries sooner, unless a user fixed it or switched it off. */
export const refusalLastsMs = 3 * joinIntervalMs;

const redial = { minMs: 100, maxMs: joinIntervalMs };

interface Target {
  attempts: number;
  dialling: boolean;
  timer: Timer | undefined;
  /** The member that last answered at the address. */
  member: MemberId | undefined;
  /** A member answered at the address and refused this one. */
  refused: boolean;
  /** This member itself answered at the address. */
  isOwn: boolean;
}

/** The parts of a member that the dialer uses. */
interface DialerParts {
  readonly peers: Peers;
  readonly network: Network;
  /** The addresses from the configuration. */
  readonly fixed: readonly string[];
}

/** Dials every known address without a session (JOIN), repeatedly, with a backoff of up to 10 s. */
export class Dialer {
  readonly #context: Context;
  readonly #network: Network;
  readonly #peers: Peers;
  readonly #fixed: readonly string[];
  readonly #targets = new Map<string, Target>();
  #openFirst = 0;
  #paused = false;
  #stopped = false;

  constructor(context: Context, { peers, network, fixed }: DialerParts) {
    this.#context = context;
    this.#network = network;
    this.#peers = peers;
    this.#fixed = fixed;
    context.facts.sessionOpened.on((member) => this.#opened(member));
    context.facts.sessionClosed.on((member) => this.lost(member));
  }

  start(): void {
    const addresses = this.#paused ? [] : this.#addresses();
    this.#openFirst = addresses.length;
    for (const address of addresses) this.#add(address);
    if (addresses.length === 0) this.#context.facts.roundDialled.publish();
  }

  stop(): void {
    this.#stopped = true;
    for (const target of this.#targets.values()) target.timer?.cancel();
  }

  /** Stops dialling until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.refresh();
    this.redial();
  }

  /** Dials every address without a session now, without waiting for its backoff. */
  redial(): void {
    for (const [address, target] of this.#targets) {
      if (target.dialling) continue;
      target.timer?.cancel();
      target.attempts = 0;
      this.#dial(address, target);
    }
  }

  /** Dials addresses that are new in the member list, and drops those that are no longer in it. */
  refresh(): void {
    if (this.#stopped || this.#paused) return;
    const wanted = new Set(this.#addresses());
    for (const address of wanted) {
      if (!this.#targets.has(address)) this.#add(address);
    }
    for (const [address, target] of this.#targets) {
      if (wanted.has(address)) continue;
      target.timer?.cancel();
      this.#targets.delete(address);
    }
  }

  /** The session with `member` ended: its addresses are dialled again soon. */
  lost(member: MemberId): void {
    for (const [address, target] of this.#targets) {
      if (target.member !== member || target.dialling) continue;
      target.attempts = 0;
      target.timer?.cancel();
      this.#later(address, target);
    }
  }

  /** A session with `member` opened, whichever side dialled: refusals at its addresses, and of its host, are over. */
  #opened(member: MemberId): void {
    const { problems } = this.#context;
    const { hello, link } = this.#peers.get(member) ?? {};
    for (const [address, target] of this.#targets) {
      if (target.member !== member && hello?.addresses.includes(address) !== true) continue;
      target.refused = false;
      problems.clear('member-refused', { member: address });
    }
    if (link !== undefined) problems.clear('member-refused', { member: hostOf(link.remote) });
  }

  /** True if this member has no session and a member that it reached refused it. */
  isRefused(): boolean {
    return this.#peers.ready().length === 0 && [...this.#targets.values()].some(({ refused }) => refused);
  }

  /**
   * The configured addresses of others, while the journal has no record of another member: this one has not met the cluster. A session alone
   * does not show yet who its members are.
   */
  unmet(): readonly string[] {
    const { self, journal } = this.#context;
    if (journal.members.all().some(({ id }) => id !== self.id)) return [];
    return this.#addresses().filter((address) => this.#targets.get(address)?.isOwn !== true);
  }

  #addresses(): readonly string[] {
    const { self, journal } = this.#context;
    const own = new Set(self.addresses);
    const addresses = new Set(this.#fixed);
    const left = new Set<string>();
    for (const record of journal.members.all()) {
      if (record.id === self.id) continue;
      for (const address of record.addresses) (record.membership === 'joined' ? addresses : left).add(address);
    }
    return [...addresses].filter(
      (address) => !own.has(address) && (!left.has(address) || this.#fixed.includes(address)),
    );
  }

  #add(address: string): void {
    const target: Target = {
      attempts: 0,
      dialling: false,
      timer: undefined,
      member: undefined,
      refused: false,
      isOwn: false,
    };
    this.#targets.set(address, target);
    this.#dial(address, target);
  }

  #later(address: string, target: Target): void {
    if (this.#stopped || this.#targets.get(address) !== target) return;
    const delayMs = backoffMs(target.attempts, redial, this.#context.clock.random());
    target.timer = this.#context.clock.after(delayMs, () => this.#dial(address, target));
  }

  #dial(address: string, target: Target): void {
    if (this.#stopped || this.#paused || target.dialling) return;
    if (this.#isConnected(address, target)) {
      target.refused = false;
      this.#firstDone();
      target.attempts = 0;
      target.timer = this.#context.clock.after(joinIntervalMs, () => this.#dial(address, target));
      return;
    }
    const waitMs = target.member === undefined ? 0 : this.#peers.failures.dialWaitMs(target.member);
    if (waitMs > 0) {
      target.timer = this.#context.clock.after(waitMs, () => this.#dial(address, target));
      return;
    }
    target.dialling = true;
    this.#network.dial(address).then(
      (link) => this.#dialled(address, target, link),
      (error: unknown) => this.#failed(address, target, error),
    );
  }

  #dialled(address: string, target: Target, link: Link): void {
    target.dialling = false;
    target.member = link.peer;
    target.refused = false;
    target.attempts = 0;
    this.#peers.accept(link);
    this.#context.problems.clear('member-refused', { member: address });
    this.#firstDone();
    target.timer = this.#context.clock.after(joinIntervalMs, () => this.#dial(address, target));
  }

  #failed(address: string, target: Target, error: unknown): void {
    target.dialling = false;
    target.attempts++;
    target.refused = refusedFor(error);
    if (target.refused) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.problems.set('member-refused', { member: address }, reason, refusalLastsMs);
    }
    this.#firstDone();
    // This member's own address, by another name or in a list that all members share: no other member will ever answer there.
    target.isOwn = (error as { code?: unknown }).code === 'self-dialled';
    if (!target.isOwn) this.#later(address, target);
  }

  #isConnected(address: string, target: Target): boolean {
    if (target.member !== undefined && this.#peers.get(target.member)?.link !== undefined) return true;
    return this.#peers.all().some((peer) => peer.link !== undefined && peer.hello?.addresses.includes(address));
  }

  #firstDone(): void {
    if (this.#openFirst === 0) return;
    this.#openFirst--;
    if (this.#openFirst === 0) this.#context.facts.roundDialled.publish();
  }
}

/** Reports that this member refused another one. Each attempt comes from another port, so the problem names only the host. */
export function noteRefused({ problems }: Context, remote: string, reason: string): void {
  problems.set('member-refused', { member: hostOf(remote) }, reason, refusalLastsMs);
}

function hostOf(remote: string): string {
  return parseHostPort(remote)?.host ?? remote;
}

/** Whether the error is a refusal, which a user must resolve, unlike a machine that is off. */
function refusedFor(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 'cluster-mismatch' || code === 'protocol-mismatch';
}

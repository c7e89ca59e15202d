import { isLive, type MemberId, type MemberRecord, type Operation } from '@lockstep/shared';
import { type Copies, CopiesRules } from '../../core/copies/copies-rules.ts';
import { type Candidate, chooseMembers } from '../../core/copies/rendezvous.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** The members that should have copies of a file. */
export interface PlacedCopies {
  readonly wanted: Copies;
  /** The members with the whole folder that count: they have every file. */
  readonly full: readonly MemberId[];
  /** The members on demand that keep it. */
  readonly onDemand: readonly MemberId[];
  /** How many copies find no member. */
  readonly unplaced: number;
}

/** Chooses the members that keep each content, by the rules of the cluster and the members as this one knows them. */
export class Placement {
  readonly #context: Context;
  readonly #peers: Peers;
  #awayMsMax: number;
  #records: readonly MemberRecord[] | undefined;
  #rules = new CopiesRules([]);
  #full: readonly MemberId[] = [];
  #candidates: readonly Candidate[] = [];

  /** A member that was not heard for `awayMsMax` does not count: its copies are made elsewhere. */
  constructor(context: Context, peers: Peers, awayMsMax: number) {
    this.#context = context;
    this.#peers = peers;
    this.#awayMsMax = awayMsMax;
    const { facts, wanted } = context;
    for (const fact of [facts.second, facts.membersChanged, facts.sessionOpened]) fact.on(() => this.refresh());
    facts.onJournaled(() => this.#refreshRecords());
    wanted.placedBy((path) => this.isPlacedHere(path));
    this.refresh();
  }

  get rules(): CopiesRules {
    return this.#rules;
  }

  /** The members on demand that may be chosen, this one among them. */
  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  /** Sets another time after which a member does not count. */
  awayAfter(awayMsMax: number): void {
    this.#awayMsMax = awayMsMax;
    this.refresh();
  }

  /** True for a file of which this member keeps a copy for the cluster, whether it is here or not. */
  isPlacedHere(path: string): boolean {
    const { self, journal } = this.#context;
    if (self.onDemand !== true || this.#rules.areTrivial) return false;
    const [head, ...siblings] = journal.heads.at(path);
    // Siblings stay wherever they are until they are joined.
    return head !== undefined && siblings.length === 0 && this.isPlacedOn(head, self.id);
  }

  /** True if `member`, which fetches on demand, keeps a copy of the file whose head is `operation`. */
  isPlacedOn(operation: Operation, member: MemberId): boolean {
    return this.#chosen(operation).includes(member);
  }

  /** The members that should have copies of the file whose head is `operation`. */
  of(operation: Operation): PlacedCopies {
    const wanted = this.#rules.copiesOf(operation.path);
    const onDemand = this.#chosen(operation);
    const count = this.#full.length + onDemand.length;
    return { wanted, full: this.#full, onDemand, unplaced: wanted === 'all' ? 0 : Math.max(0, wanted - count) };
  }

  /** The rules that ask for more members than count now. */
  shortRules(): { readonly pattern: string; readonly wanted: number; readonly able: number }[] {
    const able = this.#full.length + this.#candidates.length;
    return this.#rules.active.flatMap(({ pattern, copies }) => {
      return copies === 'all' || copies <= able ? [] : [{ pattern, wanted: copies, able }];
    });
  }

  /** True for a member whose copies count. */
  counts(member: MemberId): boolean {
    return this.#full.includes(member) || this.#candidates.some(({ id }) => id === member);
  }

  /** Takes note of the members as they are now. */
  refresh(): void {
    const members = this.#counting();
    const full = members.filter(({ onDemand }) => onDemand !== true).map(({ id }) => id);
    const candidates = members.flatMap(({ id, onDemand, room = 0 }) =>
      onDemand === true && room > 0 ? [{ id, weight: room }] : [],
    );
    const isSame = isEqual([full, candidates], [this.#full, this.#candidates]);
    this.#full = full;
    this.#candidates = candidates;
    const hasNewRules = this.#takeRules();
    if (!isSame || hasNewRules) this.#context.facts.placed.publish();
  }

  #refreshRecords(): void {
    if (this.#context.journal.members.all() !== this.#records) this.refresh();
  }

  #takeRules(): boolean {
    const records = this.#context.journal.members.all();
    if (records === this.#records) return false;
    this.#records = records;
    const rules = new CopiesRules(records);
    const isNew = !isEqual(rules.active, this.#rules.active);
    this.#rules = rules;
    return isNew;
  }

  /** The records of the members that count, this one among them. */
  #counting(): readonly MemberRecord[] {
    const { journal, self } = this.#context;
    return journal.members.all().filter(({ id, membership }) => {
      if (id === self.id) return true;
      const peer = this.#peers.get(id);
      return membership === 'joined' && peer !== undefined && this.#peers.silentMs(peer) < this.#awayMsMax;
    });
  }

  #chosen(operation: Operation): readonly MemberId[] {
    const { content, size = 0, path } = operation;
    const wanted = this.#rules.copiesOf(path);
    if (content === undefined || size === 0 || !isLive(operation) || wanted === 'all') return [];
    const count = wanted - this.#full.length;
    const [able, unable] = [
      this.#candidates.filter(({ weight }) => weight >= size),
      this.#candidates.filter(({ weight }) => weight < size),
    ];
    const chosen = chooseMembers(content, able, count);
    // Those that have told less may have the room all the same. If not, they say so.
    return [...chosen, ...chooseMembers(content, unable, count - chosen.length)];
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

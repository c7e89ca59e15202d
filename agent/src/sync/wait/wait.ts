import type { ConfirmedFiles, Confirmer } from '../integrity/confirmer.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Timer } from '../ports/clock.ts';
import type { Context, Self } from '../state/context.ts';
import type { ContentSearch } from '../transfer/content-search.ts';
import { type Blocking, listedMax, refusalAt, whatBlocks } from './blocking.ts';
import { Keepers, type WaitQuery } from './keepers.ts';
import { ReplicaCount } from './replica-count.ts';
import { type FolderScan, type MountCheck, settle } from './settle-folder.ts';
import { goalOf } from './wait-goal.ts';
import { type RuledCopies, WantedCopies } from './wanted-copies.ts';

/** Interval of the counts. */
const checkIntervalMs = 20;

export interface WaitOutcome {
  readonly done: boolean;
  readonly wanted: number;
  readonly holding: number;
  readonly members: number;
  readonly elapsedMs: number;
  readonly blocking: readonly Blocking[];
  /** No member has the whole folder: members were counted that know of it, and each content is on as many as copies are wanted. */
  readonly byCopies?: true | undefined;
  /** Rules want more copies of some files than members have the whole folder, this number at most: these copies were counted too. */
  readonly copies?: number | undefined;
  /** The number of members with the whole folder, if only they are counted, and others fetch contents on demand. */
  readonly whole?: number | undefined;
  /** Not all that is on this disk is journaled: `blocking` says why. */
  readonly isUnjournaled?: true | undefined;
}

/**
 * Waits until all entries that were on this member's disk at the call, noticed before or not, are durable on the wanted number of
 * members. A scan finds changes that are not journaled yet; after that it counts. Throws 'request-invalid' for a wait that
 * cannot end: for more members than there are, or for a path that has never existed. `aborted` returns true if no one waits any more.
 */
export async function waitForDurability(
  parts: {
    readonly context: Context;
    readonly peers: Peers;
    readonly search: ContentSearch;
    readonly copies: RuledCopies;
    readonly localChanges: FolderScan;
    readonly writeBack: { hurry(): void };
    readonly confirmer: Confirmer;
    readonly mounts: MountCheck;
    /** `reason`: why a path is not applied yet, if known. */
    readonly applyLoop: { reason(path: string): string | undefined };
    /** The addresses of others, while this member has not met any. */
    readonly dialer: { unmet(): readonly string[] };
    /** True if the agent is stopping: it examines no further paths. */
    readonly lifecycle: { readonly isLeaving: boolean };
  },
  query: WaitQuery,
  aborted: () => boolean,
): Promise<WaitOutcome> {
  const { context, peers } = parts;
  const { clock } = context;
  const startMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  const giveUp = (): boolean => elapsedMs() >= query.timeoutMs || aborted() || parts.lifecycle.isLeaving;
  // The others that count are not known yet.
  for (let unmet = unmetFor(parts, query); unmet.length > 0; unmet = unmetFor(parts, query)) {
    if (giveUp()) return metNobody(context, unmet, elapsedMs());
    await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
  }
  const others = membersToAsk(context, peers);
  const members = others.length + 1;
  const keepers = new Keepers(context, peers, others);
  const wanted = keepers.wanted(query.for);
  const isForAll = query.for === 'all';
  const isOfCopies = isForAll && keepers.areNone;
  let timer: Timer | undefined;
  const expiry = new Promise<void>((resolve) => {
    timer = clock.after(Math.max(0, query.timeoutMs - elapsedMs()), resolve);
  });
  const outcome = (holding: number, blocking?: readonly Blocking[]): WaitOutcome => {
    const done = blocking === undefined;
    const byCopies = isOfCopies ? (true as const) : undefined;
    const ruled = copies.ruled;
    const whole = ruled === undefined && typeof query.for === 'string' ? keepers.fullAmongOthers : undefined;
    const counted = { wanted, holding, members, byCopies, copies: ruled, whole };
    return { done, ...counted, elapsedMs: elapsedMs(), blocking: blocking ?? [] };
  };
  let copies = new WantedCopies(parts, { query, keepers, wanted });
  try {
    const inTheWay = await settle(parts, query.path, expiry, giveUp);
    if (inTheWay !== undefined) return { ...outcome(0, inTheWay), isUnjournaled: true };
    // Files that may have changed without a trace are read again, while the others receive what is known.
    const second = new SecondRead(parts, query.path ?? '', giveUp);
    let holders = new ReplicaCount(context, goalOf(context, query.path));
    let seals = context.journal.seals.all();
    for (;;) {
      if (second.takeDifferent()) {
        const stillInTheWay = await settle(parts, query.path, expiry, giveUp);
        if (stillInTheWay !== undefined) return { ...outcome(0, stillInTheWay), isUnjournaled: true };
        holders = new ReplicaCount(context, goalOf(context, query.path));
      }
      if (context.journal.seals.all() !== seals) {
        // Numbers in the goal are gone, and their entries have others now: the vector of all known operations covers these.
        seals = context.journal.seals.all();
        holders = new ReplicaCount(context, goalOf(context, undefined));
        copies = new WantedCopies(parts, { query, keepers, wanted });
      }
      const holding = isOfCopies ? keepers.countLevel(holders) : keepers.count(holders, query.path);
      const areEnough = holding >= wanted && (!isForAll || keepers.areLevel(holders));
      if (second.isDone && (await copies.suffice(holders, areEnough))) return outcome(Math.max(holding, wanted));
      if (giveUp()) {
        const asked = isForAll || wanted > keepers.full ? others : keepers.others;
        const blocking = [...whatBlocks(parts, asked, holders), ...copies.blocking];
        const read = second.isDone ? [] : [second.blocking(context.self)];
        return outcome(holding, [...read, ...blocking].slice(0, listedMax));
      }
      parts.writeBack.hurry();
      await new Promise<void>((resolve) => clock.after(checkIntervalMs, resolve));
    }
  } finally {
    timer?.cancel();
  }
}

/** The second read of files that may have changed without a trace. It runs while the wait counts. */
class SecondRead {
  #result: ConfirmedFiles | undefined;
  #error: unknown;
  /** The file that is being read, or the first one of several small ones. */
  #reading: string | undefined;

  constructor(
    { context, confirmer }: { readonly context: Context; readonly confirmer: Confirmer },
    path: string,
    giveUp: () => boolean,
  ) {
    if (context.journal.disk.unconfirmed(path).length === 0) {
      this.#result = { hasDifferent: false, open: undefined };
      return;
    }
    const begins = (file: string): void => {
      this.#reading = file;
    };
    confirmer.readNow(path, { giveUp, begins }).then(
      (result) => {
        this.#result = result;
      },
      (error: unknown) => {
        this.#error = error;
      },
    );
  }

  /** True if all files were read. */
  get isDone(): boolean {
    return this.#result !== undefined && this.#result.open === undefined;
  }

  /** Returns true, once, if some of them differ from the journal. */
  takeDifferent(): boolean {
    if (this.#error !== undefined) throw this.#error;
    const hasDifferent = this.#result?.hasDifferent ?? false;
    if (this.#result !== undefined) this.#result = { ...this.#result, hasDifferent: false };
    return hasDifferent;
  }

  blocking({ id, name }: Self): Blocking {
    const path = this.#result?.open ?? this.#reading;
    const reason = `${path ?? 'A recently changed file'} is being read again on this member: it may have changed without a trace.`;
    return { path, member: id, memberName: name, reason };
  }
}

function unmetFor(
  { dialer }: { readonly dialer: { unmet(): readonly string[] } },
  query: WaitQuery,
): readonly string[] {
  return typeof query.for === 'number' ? [] : dialer.unmet();
}

/** The outcome for a member that has not met any other one: at least that one must have everything too. */
function metNobody(context: Context, unmet: readonly string[], elapsedMs: number): WaitOutcome {
  const { id, name } = context.self;
  const why = refusalAt(unmet, context) ?? `none answers at ${unmet.join(', ')}.`;
  const reason = `${name} has not met another member yet, so it is not known which must have it: ${why}`;
  const blocking = [{ member: id, memberName: name, reason }];
  return { done: false, wanted: 2, holding: 0, members: 2, elapsedMs, blocking };
}

/** All other members that joined and have not left. One in a session is about to join; a probe, or one that ended before, is not. */
function membersToAsk(context: Context, peers: Peers): readonly Peer[] {
  peers.learn();
  const memberships = new Map(context.journal.members.all().map((record) => [record.id, record.membership]));
  return peers.all().filter(({ id, ready }) => (memberships.get(id) ?? (ready && 'joined')) === 'joined');
}

import {
  carriedAddresses,
  inlineWaitingBytesMax,
  type MemberId,
  sentBytesCacheMax,
  transactionRowsMax,
} from '@lockstep/shared';
import { ByteCache } from '../contents/byte-cache.ts';
import { MissingContents } from '../contents/missing-contents.ts';
import { RemoteNames } from '../contents/remote-names.ts';
import { WantedFiles } from '../contents/wanted-files.ts';
import type { Clock } from '../ports/clock.ts';
import type { Folder } from '../ports/folder.ts';
import type { Journal } from '../ports/journal.ts';
import type { Log } from '../ports/log.ts';
import type { RemoteCounters } from '../ports/remote-counters.ts';
import { Facts } from '../scheduling/facts.ts';
import { Splitter } from '../scheduling/splitter.ts';
import { TrafficLimit } from '../scheduling/traffic-limit.ts';
import { Events } from './events.ts';
import { IgnoreFile, ignoreRulesSetting } from './ignore-file.ts';
import { LastBoot } from './last-boot.ts';
import { OtherHolders } from './other-holders.ts';
import { Problems } from './problems.ts';
import { ReplacedRows } from './replaced-rows.ts';

/**
 * A mutex for the folder and its rows in the journal. A detection whose result is not yet journaled and an action whose
 * result is not yet recorded must not overlap.
 */
export class FolderLock {
  #tail: Promise<void> = Promise.resolve();

  /** Runs `body` after all earlier callers are done. If `body` throws, the lock is released and the caller receives the error. */
  run<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(body);
    this.#tail = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

/** The identity of this member, as other members see it. */
export interface Self {
  readonly id: MemberId;
  readonly name: string;
  readonly addresses: readonly string[];
  /** Its machine is off at times: the others do not take that for a fault. */
  readonly mayBeAway?: true | undefined;
  /** It has the contents of some files only: those that were read, written or pinned here. */
  readonly onDemand?: true | undefined;
  /** Names the webhook by which it tells people, without its secret; members with the same one agree on one that posts. */
  readonly webhook?: string | undefined;
}

/** The state and ports that all loops of one member share. */
export interface Context {
  readonly facts: Facts;
  readonly events: Events;
  readonly self: Self;
  readonly journal: Journal;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly log: Log;
  readonly lock: FolderLock;
  /** Splits large changes of the journal into several transactions. */
  readonly splitter: Splitter;
  readonly problems: Problems;
  /** Start of this run of the agent, wall clock in milliseconds. */
  readonly startedAtMs: number;
  /** Mount points at which an observation or a scan found an unknown mount since the last check of the mounts. */
  readonly hiding: Set<string>;
  readonly ignored: IgnoreFile;
  readonly lastBoot: LastBoot;
  readonly replacedRows: ReplacedRows;
  readonly missing: MissingContents;
  readonly others: OtherHolders;
  readonly wanted: WantedFiles;
  readonly remoteNames: RemoteNames;
  /** Bytes that were received with operations and wait to be applied. */
  readonly receivedBytesCache: ByteCache;
  /** Bytes of files that were just written here, for the members that will receive them. */
  readonly sentBytesCache: ByteCache;
  /** The limits for blocks of contents to, and from, other members. */
  readonly limits: { readonly send: TrafficLimit; readonly receive: TrafficLimit };
}

/** Creates the context of one member from the given adapters. Each new problem is logged and becomes an event. */
export function createContext(parts: {
  readonly identity: Self;
  readonly journal: Journal;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly log: Log;
  readonly remoteCounters?: RemoteCounters | undefined;
  readonly transactionRows?: number | undefined;
}): Context {
  const { identity, journal, folder, clock, log, remoteCounters, transactionRows = transactionRowsMax } = parts;
  const facts = new Facts();
  const events = new Events(journal, clock);
  // A machine with containers has dozens of addresses; the wire carries only the best ones.
  const nameOf = (member: MemberId): string | undefined => journal.members.all().find(({ id }) => id === member)?.name;
  const self = { ...identity, addresses: carriedAddresses(identity.addresses) };
  return {
    facts,
    events,
    self,
    journal,
    folder,
    clock,
    log,
    problems: new Problems(clock, (problem) => {
      // `member` is the key of the member that writes the log.
      const { member: peer, ...rest } = problem;
      log.warn({ ...rest, peer }, problem.detail);
      events.add('problem', { ...problem });
    }),
    startedAtMs: clock.wallMs(),
    lock: new FolderLock(),
    splitter: new Splitter(clock, transactionRows),
    ignored: new IgnoreFile(journal.settings.get(ignoreRulesSetting)),
    hiding: new Set(),
    lastBoot: new LastBoot(),
    replacedRows: new ReplacedRows(),
    missing: new MissingContents(() => facts.contentLost.publish()),
    others: new OtherHolders(self.id, journal),
    remoteNames: new RemoteNames(journal, remoteCounters),
    wanted: new WantedFiles(self.onDemand === true, journal.settings),
    receivedBytesCache: new ByteCache(inlineWaitingBytesMax),
    sentBytesCache: new ByteCache(sentBytesCacheMax),
    limits: { send: new TrafficLimit({ clock, facts }, nameOf), receive: new TrafficLimit({ clock, facts }, nameOf) },
  };
}

import { rename } from 'node:fs/promises';
import {
  isMemberPath,
  type LockstepError,
  type MemberId,
  markBytes,
  type Operation,
  type OriginId,
} from '@lockstep/shared';
import { formatDigest } from '../core/digest.ts';
import type { DiskChange } from '../core/entry.ts';
import type { Journal } from '../sync/ports/journal.ts';
import type { Log } from '../sync/ports/log.ts';
import { JournalDatabase } from './database.ts';
import { DiskStore } from './disk.ts';
import { EventStore } from './events.ts';
import { CopyReader } from './heads/copy-reader.ts';
import { HeadReader } from './heads/head-reader.ts';
import { HeadRows } from './heads/head-rows.ts';
import { HeadStore } from './heads/head-store.ts';
import { ParentStore } from './heads/parent-store.ts';
import { JournalDamagedError } from './journal-error.ts';
import { AckStore } from './operations/acks.ts';
import { AppliedReader } from './operations/applied.ts';
import { BranchCutter } from './operations/branch-cutter.ts';
import { completeChains } from './operations/chain-completion.ts';
import { NamedMarks } from './operations/named-marks.ts';
import { OperationLog } from './operations/operation-log.ts';
import { OriginTable } from './operations/origin-table.ts';
import { SealStore } from './operations/seals.ts';
import { PollReader } from './poll-reader.ts';
import { SettingStore } from './settings.ts';
import { TotalsStore } from './totals.ts';
import { TreeReader } from './tree.ts';
import { UseStore } from './uses.ts';
import { Verifier } from './verify.ts';

export interface JournalOptions {
  /** The database's file, or `:memory:`. */
  readonly path: string;
  readonly memberId: MemberId;
  /** From 0 (inclusive) to 1 (exclusive): draws the origin of a new journal. */
  random(): number;
  /** Milliseconds since the epoch: the time at which each operation arrives. */
  nowMs(): number;
  /** Called before a row is written that names a file which is not on this disk. If it throws, nothing is written. */
  beforeRemote?(path: string): void;
  /**
   * Called once if the disk fails a request of the open journal. After a sync that failed it is unknown what is on the disk, and a second one
   * says nothing about it: the journal has to be opened again.
   */
  diskFailed?(error: LockstepError): void;
}

/**
 * Opens the journal at `path`, or creates it. Throws `journal-damaged`, `journal-newer`, and `copied-state` when the journal is another
 * member's.
 */
export function openJournal(options: JournalOptions): Journal {
  const database = new JournalDatabase(options.path);
  try {
    const journal = compose(database, options);
    database.diskFailed = (error) => options.diskFailed?.(error);
    return journal;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A damaged journal that was put aside. */
export interface SetAside {
  readonly path: string;
  readonly reason: string;
}

/**
 * Opens the journal. A damaged one is put aside and a new one made: the log is rebuilt from the peers and the folder.
 * The new incarnation ensures that no operation number is used twice.
 */
export async function openJournalOrRebuild(
  options: JournalOptions & { readonly log: Log },
): Promise<{ journal: Journal; setAside: SetAside | undefined }> {
  const { path, log } = options;
  try {
    return { journal: openJournal(options), setAside: undefined };
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error;
    const setAside = {
      path: `${path}.damaged-${new Date().toISOString().replaceAll(/[-:]/g, '')}`,
      reason: error.reason,
    };
    log.error({ setAside }, 'the journal is damaged: it is put aside and rebuilt');
    for (const suffix of ['', '-wal', '-shm']) {
      await rename(path + suffix, setAside.path + suffix).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code !== 'ENOENT') throw cause;
      });
    }
    return { journal: openJournal(options), setAside };
  }
}

function compose(database: JournalDatabase, { memberId, random, nowMs, beforeRemote }: JournalOptions): Journal {
  const settings = new SettingStore(database);
  let origin = settings.origin(memberId, random);
  const origins = new OriginTable(database);
  const totals = new TotalsStore(database);
  const log = new OperationLog(database, origins);
  const disk = new DiskStore(database, origins, totals);
  const rows = new HeadRows(database);
  const polled = new PollReader(database, disk);
  const reader = new HeadReader(database, { log, disk, rows, totals });
  const copies = new CopyReader(database, log);
  const parents = new ParentStore(database);
  const heads = new HeadStore({ origins, disk, rows, reader, parents, totals });
  const tree = new TreeReader(database, { log, parents });
  const applied = new AppliedReader(database, { log, origins, totals });
  const acks = new AckStore(database);
  const events = new EventStore(database);
  const uses = new UseStore(database);
  const verifier = new Verifier(database, { origins, log, disk, heads, parents, totals });
  const seals = new SealStore(database);
  const markOf = (of: OriginId, seq: number) => log.link(of, seq)?.toString('hex', 0, markBytes);
  const named = new NamedMarks(database, { knownOf: (of) => log.knownOf(of), markOf });
  const cutter = new BranchCutter(database, { self: memberId, origins, log, disk, verifier });
  completeChains(database, { log, verifier });

  return {
    get origin() {
      return origin;
    },
    renewOrigin() {
      origin = settings.newOrigin(memberId, random);
    },
    transaction: (body) => database.transaction(body),

    append(operations) {
      const fresh = withoutKnown(
        operations,
        (of) => log.knownOf(of),
        (of) => seals.last(of),
      );
      if (fresh.length === 0) return fresh;
      const journaledAt = nowMs();
      // Others' operations can be fetched again after a power cut. No acknowledgement is sent before a row of `disk` is durable, and that
      // makes them durable too.
      const own = fresh.some((operation) => operation.origin === origin);
      const run = own ? database.transaction.bind(database) : database.relaxedTransaction.bind(database);
      return run(() => {
        for (const operation of fresh) heads.merge(operation, log.add(operation, journaledAt));
        if (fresh.some(({ kind }) => kind === 'member')) reader.forgetMembers();
        parents.flush();
        named.compare(fresh, (of) => seals.last(of));
        return fresh;
      });
    },

    seal: (of, last) =>
      database.transaction(() => {
        if (seals.last(of) <= last) return [];
        seals.set(of, last);
        named.sealed(of, last);
        const cut = cutter.cut(of, last);
        reader.forgetMembers();
        parents.flush();
        return cut;
      }),
    seals: () => seals.all(),
    marks: () => log.marks(),
    mark: markOf,
    contradictions: () => named.contradictions(),

    known: () => log.known(),
    applied: () => applied.applied(),
    operation: (dot) => log.operation(dot),
    operationsOf: (of, after, limit) => log.operationsOf(of, after, limit),
    operationsBeyond: (known, limit) => log.operationsBeyond(known, limit),
    log: (query) => log.log(query),
    logged: (dot) => log.logged(dot),
    everHad: (path, entry) => log.everHad(path, entry),
    operationWith: (path, content) => log.operationWith(path, content),

    heads: (path) => reader.heads(path),
    headsUnder: (prefix, after, limit) => reader.headsUnder(prefix, after, limit),
    // The nearest live entries below a directory are directly in it, or have lost their parent.
    hasLiveBelow: (directory) => parents.liveIn(directory) > 0 || reader.hasOrphanBelow(directory),
    contested: (after, limit) => reader.contested(after, limit),
    conflictCopies: (after, limit) => copies.conflictCopies(after, limit),
    conflictCopyCount: () => copies.conflictCopyCount(),
    removedCopies: (limit) => copies.removedCopies(limit),
    orphans: (after, limit) => reader.orphans(after, limit),
    headWithContent: (content) => reader.withContent(content),
    members: () => reader.members(),
    pending: (query) => reader.pending(query),
    digest: () => formatDigest(totals.get().digest),

    counts() {
      const { files, directories, bytes, pending, contested, ...rest } = totals.get();
      return {
        files,
        directories,
        bytes,
        operations: log.length(),
        pending,
        contested,
        missingBytes: rest.missing_bytes,
        disk: { files: rest.disk_files, directories: rest.disk_directories, bytes: rest.disk_bytes },
      };
    },

    liveChildren: (directory, after, limit) => tree.liveChildren(directory, after, limit),
    deletedChildren: (directory, after, limit) => tree.deletedChildren(directory, after, limit),
    liveChildCount: (directory) => tree.liveChildCount(directory),
    sumBelow: (directory, pathsMax) => tree.sumBelow(directory, pathsMax),
    liveWithPrefix: (prefix, limit) => tree.liveWithPrefix(prefix, limit),
    search: (text, after, bounds) => tree.search(text, after, bounds),

    disk: (path) => disk.entry(path),
    filesAt: (paths) => polled.at(paths),
    filesAfter: (path, limit) => polled.after(path, limit),
    diskChildren: (directory) => disk.children(directory),
    diskBelow: (directory, after, limit) => disk.below(directory, after, limit),
    diskWithContent: (content, limit) => disk.withContent(content, limit),
    diskWithInode: (ino) => disk.withInode(ino),
    damaged: () => disk.damaged(),

    recordDisk(changes) {
      if (changes.length === 0) return;
      database.transaction(() => {
        for (const change of changes) record(change);
      });
    },

    watchContents: (watcher) => disk.watch(watcher),

    unsynced: (after = 0) => disk.unsynced(after),
    // If a power cut undoes it, it is done again: no row claims too much.
    synced: (after, mark, span) => database.relaxedTransaction(() => disk.synced(after, mark, span)),
    unconfirmed: (path) => disk.unconfirmed(path),
    clean: (after, limit) => disk.clean(after, limit),
    remoteBelow: (directory, after, limit) => disk.remoteBelow(directory, after, limit),
    remoteChildren: (directory, after, limit) => disk.remoteChildren(directory, after, limit),
    confirmed: (certain) => database.relaxedTransaction(() => disk.confirmed(certain)),

    saveAck: (member, vector) => acks.save(member, vector),
    acks: () => acks.all(),
    addEvent: (at, kind, data) => events.add(at, kind, data),
    events: (after, limit) => events.after(after, limit),
    lastEventNumber: () => events.lastNumber(),
    setting: (name) => settings.get(name),
    setSetting: (name, value) => settings.set(name, value),
    noteSetting: (name, value) => database.relaxedTransaction(() => settings.set(name, value)),
    uses: () => uses.all(),
    // What a power cut takes of it, the cache misses only.
    noteUses: (used, forgotten) => database.relaxedTransaction(() => uses.write(used, forgotten)),
    verifyHeads(repair) {
      reader.forgetMembers();
      rows.forget();
      disk.forget();
      return verifier.verify(repair);
    },
    ageCaches() {
      for (const part of [log, disk, rows]) part.ageCache();
    },
    close: () => database.close(),
  };

  function record(change: DiskChange): void {
    if (isMemberPath(change.path)) throw new Error(`The path ${change.path} has no place on the disk.`);
    if (change.entry?.remote) beforeRemote?.(change.path);
    heads.diskChanged(change.path, disk.write(change));
  }
}

/** The operations that are new and within their origin's seal, in order. Throws when an earlier number of an origin is missing. */
function withoutKnown(
  operations: readonly Operation[],
  knownOf: (origin: OriginId) => number,
  sealOf: (origin: OriginId) => number,
): readonly Operation[] {
  const reached = new Map<OriginId, number>();
  return operations.filter(({ origin, seq }) => {
    const last = reached.get(origin) ?? knownOf(origin);
    if (seq <= last || seq > sealOf(origin)) return false;
    if (seq !== last + 1) throw new Error(`Operation ${origin}:${seq} does not follow ${last}: numbers are missing.`);
    reached.set(origin, seq);
    return true;
  });
}

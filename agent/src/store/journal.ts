import { rename } from 'node:fs/promises';
import type { LockstepError, MemberId, Operation, OriginId } from '@lockstep/shared';
import type { Journal } from '../sync/ports/journal.ts';
import type { Log } from '../sync/ports/log.ts';
import { JournalDatabase } from './database.ts';
import { DiskStore } from './disk.ts';
import { EventStore } from './events.ts';
import { CopyReader } from './heads/copy-reader.ts';
import { HeadReader } from './heads/head-reader.ts';
import { HeadRows } from './heads/head-rows.ts';
import { HeadStore } from './heads/head-store.ts';
import { MemberReader } from './heads/member-reader.ts';
import { ParentStore } from './heads/parent-store.ts';
import { JournalDamagedError } from './journal-error.ts';
import { removed } from './journal-place.ts';
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

/** A journal in a file, which a user can remove. */
export interface FileJournal extends Journal {
  /** Closes the journal and throws `journal-removed` if a file of it was removed or replaced since it was opened. */
  endIfRemoved(): void;
}

/**
 * Opens the journal at `path`, or creates it. Throws `journal-damaged`, `journal-newer`, and `copied-state` when the journal is another
 * member's.
 */
export function openJournal(options: JournalOptions): FileJournal {
  const database = new JournalDatabase(options.path);
  try {
    const journal = compose(database, options);
    database.diskFailed = (error) => options.diskFailed?.(error);
    return Object.assign(journal, {
      endIfRemoved() {
        const { lost } = database;
        if (lost === undefined) return;
        database.close();
        throw removed(options.path, lost);
      },
    });
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
): Promise<{ journal: FileJournal; setAside: SetAside | undefined }> {
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

/** The tables of the journal, and the writes that change several of them together. */
function compose(database: JournalDatabase, { memberId, random, nowMs, beforeRemote }: JournalOptions): Journal {
  const settings = new SettingStore(database);
  let origin = settings.origin(memberId, random);
  const origins = new OriginTable(database);
  const totals = new TotalsStore(database);
  const log = new OperationLog(database, origins);
  const disk = new DiskStore(database, { origins, totals, beforeRemote });
  const rows = new HeadRows(database);
  const parents = new ParentStore(database);
  const reader = new HeadReader(database, { log, disk, rows, parents, totals });
  const heads = new HeadStore({ origins, disk, rows, reader, parents, totals });
  const members = new MemberReader(database, reader);
  const seals = new SealStore(database);
  const namedMarks = new NamedMarks(database, log);
  const verifier = new Verifier(database, { origins, log, disk, heads, parents, totals });
  const cutter = new BranchCutter(database, { self: memberId, origins, log, disk, verifier });
  const applied = new AppliedReader(database, { log, origins, totals });
  completeChains(database, { log, verifier });

  return {
    log,
    seals,
    namedMarks,
    heads: reader,
    members,
    conflictCopies: new CopyReader(database, log),
    tree: new TreeReader(database, { log, parents }),
    disk,
    fingerprints: new PollReader(database, disk),
    totals,
    acks: new AckStore(database),
    events: new EventStore(database),
    settings,
    uses: new UseStore(database),

    get origin() {
      return origin;
    },
    renewOrigin() {
      origin = settings.newOrigin(memberId, random);
    },
    transaction: (body) => database.transaction(body),
    applied: () => applied.applied(),

    append(operations) {
      const fresh = withoutKnown(operations, log, seals);
      if (fresh.length === 0) return fresh;
      const journaledAt = nowMs();
      // Others' operations can be fetched again after a power cut. No acknowledgement is sent before a row of `disk` is durable, and that
      // makes them durable too.
      const own = fresh.some((operation) => operation.origin === origin);
      const run = own ? database.transaction.bind(database) : database.relaxedTransaction.bind(database);
      return run(() => {
        for (const operation of fresh) heads.merge(operation, log.add(operation, journaledAt));
        if (fresh.some(({ kind }) => kind === 'member')) members.forget();
        parents.flush();
        namedMarks.compare(fresh, seals);
        return fresh;
      });
    },

    seal: (of, last) =>
      database.transaction(() => {
        if (seals.last(of) <= last) return [];
        seals.set(of, last);
        namedMarks.sealed(of, last);
        const cut = cutter.cut(of, last);
        members.forget();
        parents.flush();
        return cut;
      }),

    verifyHeads(repair) {
      for (const part of [members, rows, disk]) part.forget();
      return verifier.verify(repair);
    },
    ageCaches() {
      for (const part of [log, disk, rows]) part.ageCache();
    },
    close: () => database.close(),
  };
}

/** The operations that are new and within their origin's seal, in order. Throws when an earlier number of an origin is missing. */
function withoutKnown(operations: readonly Operation[], log: OperationLog, seals: SealStore): readonly Operation[] {
  const reached = new Map<OriginId, number>();
  return operations.filter(({ origin, seq }) => {
    const last = reached.get(origin) ?? log.knownOf(origin);
    if (seq <= last || seq > seals.last(origin)) return false;
    if (seq !== last + 1) throw new Error(`Operation ${origin}:${seq} does not follow ${last}: numbers are missing.`);
    reached.set(origin, seq);
    return true;
  });
}

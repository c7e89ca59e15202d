import { isLive, type ProblemCode, parentOf, unreadHoldMs, vanishedHoldMs } from '@lockstep/shared';
import { unconfirmedAt } from '../../core/confirmation.ts';
import { type DiskEntry, damagedEntry, entryFor, isDirectoryMode, mayBeSameInode } from '../../core/entry.ts';
import type { Seen } from '../../core/local-change.ts';
import { type DirtyPath, largeFileDueMs, quietMsMin } from '../../core/settle.ts';
import { judgeDoubt, keepDoubtful } from '../integrity/doubtful-content.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Observation } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import { ChangeBatch } from './change-batch.ts';
import { draftDirectoryRename, draftRename, type ExistingEntry, findRenameSource } from './rename-detector.ts';
import { RowComparison } from './row-comparison.ts';

/** The result of a detection for a batch of paths, except for the operations that it journaled. */
export interface Detection {
  /** Paths that need nothing more now. */
  readonly settled: readonly string[];
  readonly published: readonly string[];
  readonly deferred: readonly { readonly unsettled: DirtyPath; readonly dueMs: number }[];
  /** Those of the deferred paths that have a reported problem of their own. */
  readonly withProblem: readonly string[];
  /** Those of the deferred paths whose entry could not be read, and may be one that is missing elsewhere: deletes wait for them. */
  readonly unread: ReadonlySet<string>;
  /** Large files that may be hashed now. */
  readonly large: readonly DirtyPath[];
  /** Paths whose entry was gone before it was journaled: removed, or moved to another name. */
  readonly lost: readonly string[];
  /** Directories that are new here: to be watched, and scanned for their entries. */
  readonly scan: readonly string[];
  /** Other paths that must be examined. */
  readonly mark: readonly string[];
  /** An entry is missing, and its delete waits until all names that appeared before have been examined. */
  readonly vanished: boolean;
  /** The folder is missing, so that no entry was seen. */
  readonly lostSight: boolean;
}

/**
 * Examines a batch of paths and journals the changes. The caller holds the folder lock. `read`: large files that have already been
 * read; their content is used if they are unchanged. `scannedUpToMs`: all names that appeared before this time have been examined, so
 * that an entry missing since then is not at another path.
 */
export async function detectChanges(
  context: Context,
  operationWriter: OperationWriter,
  batch: readonly DirtyPath[],
  read: ReadonlyMap<string, Observation & { state: 'file' }>,
  scannedUpToMs: number,
): Promise<Detection> {
  const detector = new ChangeDetector(context, operationWriter, batch, read, scannedUpToMs);
  await detector.run();
  return detector;
}

class ChangeDetector implements Detection {
  readonly settled: string[] = [];
  readonly published: string[] = [];
  readonly deferred: { unsettled: DirtyPath; dueMs: number }[] = [];
  readonly withProblem: string[] = [];
  readonly unread = new Set<string>();
  readonly large: DirtyPath[] = [];
  readonly lost: string[] = [];
  readonly scan: string[] = [];
  readonly mark: string[] = [];
  vanished = false;
  lostSight = false;

  readonly #context: Context;
  readonly #batch: readonly DirtyPath[];
  readonly #read: ReadonlyMap<string, Observation & { state: 'file' }>;
  readonly #changes: ChangeBatch;
  readonly #comparison: RowComparison;
  readonly #scannedUpToMs: number;
  readonly #nowMs: number;
  readonly #wallMs: number;

  constructor(
    context: Context,
    operationWriter: OperationWriter,
    batch: readonly DirtyPath[],
    read: ReadonlyMap<string, Observation & { state: 'file' }>,
    scannedUpToMs: number,
  ) {
    this.#context = context;
    this.#changes = new ChangeBatch(context, operationWriter);
    this.#batch = batch;
    this.#read = read;
    this.#scannedUpToMs = scannedUpToMs;
    this.#nowMs = context.clock.monotonicMs();
    this.#wallMs = context.clock.wallMs();
    this.#comparison = new RowComparison(context, this.#changes, {
      changed: (path) => this.mark.push(path),
      failed: (path) => this.#putOff(path, problemRetryMs),
    });
  }

  async run(): Promise<void> {
    const batch = this.#withMissingParents();
    const rows = batch.map(({ path }) => this.#context.journal.disk(path));
    const seen = await this.#context.folder.observe(
      batch.map(({ path }, index) => {
        const row = rows[index];
        const expected = this.#read.get(path)?.fingerprint ?? (row?.racy ? undefined : row?.fingerprint);
        return { path, expected, tail: this.#context.lastBoot.wasCutOff };
      }),
    );
    const judge = async (index: number, wanted: (observation: Observation) => boolean): Promise<void> => {
      const [unsettled, observation] = [batch[index], seen[index]];
      if (!unsettled || !observation || !wanted(observation) || this.#changes.has(unsettled.path)) return;
      await this.#judge(unsettled, observation, rows[index]);
    };
    // Existing entries first, parents before children; then missing ones, children before parents: so a rename is first seen at its new name.
    for (let index = 0; index < batch.length; index++) await judge(index, ({ state }) => state !== 'absent');
    for (let index = batch.length - 1; index >= 0; index--) await judge(index, ({ state }) => state === 'absent');
    const { drafts, refused } = this.#changes.commit();
    // Deletes are not rate-limited: the next event at the path may be a rename to it.
    for (const { kind, path } of drafts) {
      if (refused.has(path)) this.#refuse(path);
      else (kind === 'delete' ? this.settled : this.published).push(path);
    }
  }

  /** Defers a path whose operation was refused: it is compared again, because the heads may have changed by then. */
  #refuse(path: string): void {
    const { settled } = this;
    if (settled.includes(path)) settled.splice(settled.indexOf(path), 1);
    this.#putOff(path, refusedRetryMs);
  }

  /** The paths in order, parents first, with those ancestors that have no entry on this disk yet. */
  #withMissingParents(): readonly DirtyPath[] {
    const { journal } = this.#context;
    const paths = new Map(this.#batch.map((unsettled) => [unsettled.path, unsettled]));
    const existing = new Set<string>();
    for (const unsettled of this.#batch) {
      for (let parent = parentOf(unsettled.path); parent !== '' && !paths.has(parent); parent = parentOf(parent)) {
        if (existing.has(parent)) break;
        if (journal.disk(parent)?.fingerprint !== undefined) {
          existing.add(parent);
          break;
        }
        paths.set(parent, { ...unsettled, path: parent });
      }
    }
    return [...paths.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #judge(unsettled: DirtyPath, observation: Observation, row: DiskEntry | undefined): Promise<void> {
    const { problems, ignored } = this.#context;
    const { path } = unsettled;
    switch (observation.state) {
      case 'same': {
        const read = this.#read.get(path);
        if (read) await this.#judgeEntry(unsettled, read, row);
        else {
          // An unchanged entry of a directory does not show that it can be listed: only a scan does.
          if (isDirectoryRow(row) && problems.ofPath(path) !== undefined) this.scan.push(path);
          this.#settle(path);
        }
        return;
      }
      case 'special':
        // The state of another member is reported also where it is ignored.
        if (observation.problem === undefined && ignored.ignores(path, false)) this.#settle(path);
        else this.#leaveAlone(path, observation.problem);
        return;
      case 'changing':
        this.deferred.push({ unsettled, dueMs: this.#nowMs + quietMsMin * 4 });
        return;
      case 'problem':
        // The mount point has the problem, not each path below it. Its entries are scanned when the problem is over.
        if (observation.code === 'mount-changed') {
          this.#context.hiding.add(observation.mount ?? path);
          this.settled.push(path);
          return;
        }
        if (observation.code === 'file-too-large' && ignored.ignores(path, false)) {
          this.#settle(path);
          return;
        }
        // The folder as a whole is one problem, not one for each path.
        if (observation.code === 'folder-missing') this.lostSight = true;
        else this.withProblem.push(path);
        if (this.#mayBeMissingEntry(unsettled, observation)) this.unread.add(path);
        problems.set(observation.code, observation.code === 'folder-missing' ? {} : { path }, observation.detail);
        this.#retryProblem(unsettled);
        return;
      case 'absent':
        if (ignored.ignores(path, row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode)))
          this.#passOver(path, row);
        else await this.#judgeAbsent(unsettled, row);
        return;
      default: {
        const isDirectory = observation.state === 'directory';
        if (ignored.ignores(path, isDirectory)) this.#settle(path);
        else if (!isDirectory && this.#childrenGoFirst(unsettled, row)) return;
        else await this.#judgeEntry(unsettled, observation, row);
      }
    }
  }

  /** Whether an entry that could not be read may be one that is missing elsewhere. One that stays unreadable counts as another one in the end. */
  #mayBeMissingEntry({ path, firstMs }: DirtyPath, { code, unread }: Observation & { state: 'problem' }): boolean {
    if (!unreadCodes.has(code) || this.#nowMs - firstMs >= unreadHoldMs) return false;
    if (unread === undefined) return true;
    const rows = this.#context.journal.diskWithInode(unread.ino);
    return rows.some((row) => row.path !== path && row.fingerprint && mayBeSameInode(row.fingerprint, unread));
  }

  #leaveAlone(path: string, problem: (Observation & { state: 'special' })['problem']): void {
    const detail = problem?.detail ?? `${path} is a socket, pipe or device. It is left alone.`;
    this.#context.problems.set(problem?.code ?? 'path-special', { path }, detail);
    this.settled.push(path);
  }

  /**
   * Settles an ignored entry that is gone, without an operation. Its row gets no fingerprint: as that of an existing entry, it
   * would block the delete of a directory above it.
   */
  #passOver(path: string, row: DiskEntry | undefined): void {
    const [head] = this.#context.journal.heads(path);
    if (row?.fingerprint !== undefined && head !== undefined)
      this.#changes.record(entryFor(path, head, undefined, false));
    this.#settle(path);
  }

  async #judgeAbsent(unsettled: DirtyPath, row: DiskEntry | undefined): Promise<void> {
    if (row?.fingerprint === undefined) {
      this.lost.push(unsettled.path);
      await this.#compare(unsettled.path, { state: 'absent' }, row);
      return;
    }
    // The entry may be about to be seen at a new name: a rename then shows users one of its names at any time. The wait counts from
    // the detection that found it missing: at a path that changed often, that one is late, and the one at the new name as late.
    const missingSinceMs = unsettled.missingSinceMs ?? this.#nowMs;
    const heldUntilMs = missingSinceMs + vanishedHoldMs;
    if (this.#scannedUpToMs < missingSinceMs) {
      this.vanished = true;
      this.deferred.push({ unsettled: { ...unsettled, missingSinceMs }, dueMs: this.#nowMs + unseenRetryMs });
    } else if (this.#nowMs < heldUntilMs) {
      this.deferred.push({ unsettled: { ...unsettled, missingSinceMs }, dueMs: heldUntilMs });
    } else if (!this.#childrenGoFirst(unsettled, row)) await this.#compare(unsettled.path, { state: 'absent' }, row);
  }

  /** Whether the entries of a former directory must be deleted before it: a delete with live entries below would resurrect it. */
  #childrenGoFirst(unsettled: DirtyPath, row: DiskEntry | undefined): boolean {
    if (row?.fingerprint === undefined || !isDirectoryMode(row.fingerprint.mode)) return false;
    const below = this.#context.journal.diskBelow(unsettled.path, undefined, childrenAtOnceMax);
    const open = below.filter((child) => !this.#changes.has(child.path));
    // All of them, not only the first ones, are deleted in this batch.
    if (open.length === 0 && below.length < childrenAtOnceMax) return false;
    for (const child of open) this.mark.push(child.path);
    this.deferred.push({ unsettled, dueMs: this.#nowMs + childrenRetryMs });
    return true;
  }

  async #judgeEntry(unsettled: DirtyPath, observation: ExistingEntry, row: DiskEntry | undefined): Promise<void> {
    const { path } = unsettled;
    const { fingerprint } = observation;
    const isDirectory = isDirectoryMode(fingerprint.mode);
    const known = row?.fingerprint?.ino === fingerprint.ino;
    // The inode number proves nothing here: a new directory often gets that of a removed one, and has no watch.
    if (isDirectory) this.scan.push(path);
    const isPlace = isDirectory && row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode);
    if (!known && !isPlace) {
      if (await this.#judgeRename(unsettled, observation, row)) return;
    }
    if (observation.state === 'large') {
      const modifiedAgoMs = this.#context.clock.wallMs() - fingerprint.mtimeMs;
      const dueMs = largeFileDueMs(unsettled, fingerprint.size, modifiedAgoMs, this.#nowMs);
      if (dueMs === undefined) this.large.push(unsettled);
      else this.deferred.push({ unsettled, dueMs });
      return;
    }
    if (row !== undefined && observation.state === 'file' && (await this.#judgeDoubt(unsettled, observation, row)))
      return;
    if (observation.state === 'file' || observation.state === 'directory' || observation.state === 'symlink') {
      const isTorn = row && observation.state === 'file' && this.#context.lastBoot.mayHaveTorn(row, observation);
      await this.#compare(path, observation, isTorn ? { ...row, damaged: true } : row);
    }
  }

  async #judgeRename(unsettled: DirtyPath, existing: ExistingEntry, row: DiskEntry | undefined): Promise<boolean> {
    const { fingerprint } = existing;
    const source = await findRenameSource(this.#context, existing, row);
    if (source === undefined || (source.vanished && this.#changes.has(source.row.path))) return false;
    if (this.#isOwnRename(unsettled.path, source.row.path)) return false;
    const isDirectory = isDirectoryMode(fingerprint.mode);
    if (isDirectory && !source.vanished) return false;
    const drafts = isDirectory
      ? await draftDirectoryRename(this.#context, unsettled.path, fingerprint, source)
      : draftRename(this.#context, existing, source);
    if (drafts === undefined || drafts.some((draft) => this.#changes.has(draft.path))) return false;
    for (const draft of drafts) {
      this.#changes.add(draft);
      // Neither path is compared any more: the entry that had a problem is replaced or moved away.
      this.#context.problems.clearPath(draft.path);
    }
    this.settled.push(unsettled.path);
    // The file was taken for the renamed one without reading. If it is another one, the others have wrong bytes until it is read.
    if (existing.state === 'large') this.mark.push(unsettled.path);
    return true;
  }

  /** True if the agent executed this rename and was killed before it recorded it: the disk shows the head, which is adopted. */
  #isOwnRename(path: string, from: string): boolean {
    const { journal } = this.#context;
    const [head] = journal.heads(path);
    const [gone] = journal.heads(from);
    return head !== undefined && isLive(head) && head.from === from && gone !== undefined && !isLive(gone);
  }

  /** Handles a file that is either an edit or damage: keeps it under another name and has the row's content fetched. False: it is an edit. */
  async #judgeDoubt(unsettled: DirtyPath, seen: Observation & { state: 'file' }, row: DiskEntry): Promise<boolean> {
    const doubt = judgeDoubt(this.#context, row, seen);
    // Members that were silent for so long cannot say that they have the content.
    if (doubt === 'none' || (doubt === 'undecided' && this.#nowMs - unsettled.firstMs >= undecidedMsMax)) return false;
    if (doubt === 'undecided') {
      this.deferred.push({ unsettled, dueMs: this.#nowMs + undecidedRetryMs });
      return true;
    }
    if (doubt === 'torn') {
      const { fingerprint, content, racy } = seen;
      const marks = { cut: true, racy, unconfirmed: unconfirmedAt(fingerprint, this.#wallMs) };
      this.#changes.record({ path: row.path, entry: { ...damagedEntry(row.dot, fingerprint, content), ...marks } });
      this.#context.lastBoot.found(row.path);
      this.#settle(row.path);
      return true;
    }
    const kept = await keepDoubtful(this.#context, row, seen);
    if (kept === 'never') return false;
    if (kept === 'not-now') {
      this.#retryProblem(unsettled);
      return true;
    }
    this.#changes.record({ path: row.path, entry: damagedEntry(row.dot, seen.fingerprint, seen.content) });
    this.mark.push(kept.copy);
    this.#settle(row.path);
    return true;
  }

  async #compare(path: string, seen: Seen, row: DiskEntry | undefined): Promise<void> {
    this.#settle(path);
    if (seen.state === 'absent') this.#context.problems.clearBelow(path);
    await this.#comparison.compare(path, seen, row);
  }

  /** Defers a path that has a problem. Its rest counts from now: counted from its last change, each event would double it. */
  #retryProblem(unsettled: DirtyPath): void {
    this.deferred.push({ unsettled: { ...unsettled, lastMs: this.#nowMs }, dueMs: this.#nowMs + problemRetryMs });
  }

  /** Defers a path that has a problem of its own: it is compared again later. */
  #putOff(path: string, forMs: number): void {
    const unsettled = { path, firstMs: this.#nowMs, lastMs: this.#nowMs, dueMs: this.#nowMs };
    this.deferred.push({ unsettled, dueMs: this.#nowMs + forMs });
    this.withProblem.push(path);
  }

  #settle(path: string): void {
    this.settled.push(path);
    this.#context.problems.clearPath(path);
  }
}

const problemRetryMs = 2_000;
/** The problems of an entry that the disk or its permissions keep the agent from reading. */
const unreadCodes: ReadonlySet<ProblemCode> = new Set(['path-permission', 'path-io']);
/** How long a possible damage waits for members to say whether they have the previous content, and the interval of the checks. */
const undecidedMsMax = 10_000;
const undecidedRetryMs = 200;
/** A join of siblings may make the operation acceptable. Without changes, a comparison this often costs next to nothing. */
const refusedRetryMs = 10_000;
/** Longer than it takes to examine the names that appeared before, which ends the wait. */
const unseenRetryMs = 2_000;
/** Entries of a missing directory that are marked at a time, and how long the directory then waits for them. */
const childrenAtOnceMax = 512;
const childrenRetryMs = 10;

function isDirectoryRow(row: DiskEntry | undefined): boolean {
  return row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode);
}

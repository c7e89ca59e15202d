import { type ProblemCode, parentOf, unreadHoldMs } from '@lockstep/shared';
import { unconfirmedAt } from '../../core/confirmation.ts';
import { type DirtyPath, largeFileDueMs, quietMsMin } from '../../core/detection/settle.ts';
import { type DiskEntry, damagedEntry, isDirectoryMode, mayBeSameInode } from '../../core/entry.ts';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import type { Seen } from '../../core/local-change.ts';
import { judgeDoubt, keepDoubtful } from '../integrity/doubtful-content.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';
import { ChangeBatch } from './change-batch.ts';
import { type Detection, DetectionBuilder } from './detection.ts';
import { MissingEntries } from './missing-entries.ts';
import { detectRename } from './rename-detector.ts';
import type { ExistingEntry } from './rename-drafts.ts';
import { RowComparison } from './row-comparison.ts';

/** The paths of a detection, with the facts known about them. */
export interface DetectionRequest {
  readonly batch: readonly DirtyPath[];
  /** Large files that have already been read; their content is used if they are unchanged. */
  readonly read: ReadonlyMap<string, Observation & { state: 'file' }>;
  /** All names that appeared before this time have been examined: an entry missing since then is not at another path. */
  readonly scannedUpToMs: number;
}

/** Examines a batch of paths and journals the changes. The caller holds the folder lock. */
export async function detectChanges(
  context: Context,
  operationWriter: OperationWriter,
  request: DetectionRequest,
): Promise<Detection> {
  const detector = new ChangeDetector(context, operationWriter, request);
  await detector.run();
  return detector.detection;
}

class ChangeDetector {
  readonly detection: DetectionBuilder;
  readonly #context: Context;
  readonly #batch: readonly DirtyPath[];
  readonly #read: ReadonlyMap<string, Observation & { state: 'file' }>;
  readonly #changes: ChangeBatch;
  readonly #comparison: RowComparison;
  readonly #missing: MissingEntries;
  readonly #nowMs: number;
  readonly #wallMs: number;

  constructor(context: Context, operationWriter: OperationWriter, { batch, read, scannedUpToMs }: DetectionRequest) {
    this.#context = context;
    this.#changes = new ChangeBatch(context, operationWriter);
    this.#batch = batch;
    this.#read = read;
    this.#nowMs = context.clock.monotonicMs();
    this.#wallMs = context.clock.wallMs();
    this.detection = new DetectionBuilder(context.problems, this.#nowMs);
    this.#missing = new MissingEntries({ context, changes: this.#changes, detection: this.detection, scannedUpToMs });
    this.#comparison = new RowComparison(context, this.#changes, {
      changed: (path) => this.detection.mark.push(path),
      failed: (path) => this.detection.putOff(path),
    });
  }

  async run(): Promise<void> {
    const batch = this.#withMissingParents();
    const rows = batch.map(({ path }) => this.#context.journal.disk.at(path));
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
    const { drafts, refused } = await this.#changes.commit();
    // Deletes are not rate-limited: the next event at the path may be a rename to it.
    for (const { kind, path } of drafts) {
      if (refused.has(path)) this.detection.refuse(path);
      else (kind === 'delete' ? this.detection.settled : this.detection.published).push(path);
    }
  }

  /** The paths in order, parents first, with those ancestors that have no entry on this disk yet. */
  #withMissingParents(): readonly DirtyPath[] {
    const { journal } = this.#context;
    const paths = new Map(this.#batch.map((unsettled) => [unsettled.path, unsettled]));
    const existing = new Set<string>();
    for (const unsettled of this.#batch) {
      for (let parent = parentOf(unsettled.path); parent !== '' && !paths.has(parent); parent = parentOf(parent)) {
        if (existing.has(parent)) break;
        if (journal.disk.at(parent)?.fingerprint !== undefined) {
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
          if (isDirectoryRow(row) && problems.ofPath(path) !== undefined) this.detection.scan.push(path);
          this.detection.settle(path);
        }
        return;
      }
      case 'special':
        if (ignored.ignores(path, false)) this.detection.settle(path);
        else this.#leaveAlone(path, observation.problem, row);
        return;
      case 'changing':
        this.detection.defer(unsettled, quietMsMin * 4);
        return;
      case 'problem':
        this.#judgeProblem(unsettled, observation);
        return;
      case 'absent':
        if (ignored.ignores(path, isDirectoryRow(row))) this.#missing.passOver(path, row);
        else await this.#judgeAbsent(unsettled, row);
        return;
      default: {
        const isDirectory = observation.state === 'directory';
        if (ignored.ignores(path, isDirectory)) this.detection.settle(path);
        else if (!isDirectory && this.#missing.doChildrenGoFirst(unsettled, row)) return;
        else await this.#judgeEntry(unsettled, observation, row);
      }
    }
  }

  #judgeProblem(unsettled: DirtyPath, observation: Observation & { state: 'problem' }): void {
    const { problems, ignored, hiding } = this.#context;
    const { path } = unsettled;
    // The mount point has the problem, not each path below it. Its entries are scanned when the problem is over.
    if (observation.code === 'mount-changed') {
      hiding.add(observation.mount ?? path);
      this.detection.settled.push(path);
      return;
    }
    if (observation.code === 'file-too-large' && ignored.ignores(path, false)) {
      this.detection.settle(path);
      return;
    }
    // The folder as a whole is one problem, not one for each path.
    if (observation.code === 'folder-missing') this.detection.lostSight = true;
    else this.detection.withProblem.push(path);
    if (this.#mayBeMissingEntry(unsettled, observation)) this.detection.unread.add(path);
    problems.set(observation.code, observation.code === 'folder-missing' ? {} : { path }, observation.detail);
    this.detection.retryProblem(unsettled);
  }

  /** Whether an entry that could not be read may be one that is missing elsewhere. One that stays unreadable counts as another one in the end. */
  #mayBeMissingEntry({ path, firstMs }: DirtyPath, { code, unread }: Observation & { state: 'problem' }): boolean {
    if (!unreadCodes.has(code) || this.#nowMs - firstMs >= unreadHoldMs) return false;
    if (unread === undefined) return true;
    const rows = this.#context.journal.disk.withInode(unread.ino);
    return rows.some((row) => row.path !== path && row.fingerprint && mayBeSameInode(row.fingerprint, unread));
  }

  #leaveAlone(
    path: string,
    problem: (Observation & { state: 'special' })['problem'],
    row: DiskEntry | undefined,
  ): void {
    if (row?.fingerprint !== undefined) {
      // The former entry is not on this disk any more: it must not count as held. This is no delete, because a mount may hide it.
      this.#changes.record({ path, entry: undefined });
      if (holdsIgnoreRules(path)) this.#context.facts.rulesTouched.publish();
    }
    const detail = problem?.detail ?? `${path} is a socket, pipe or device. It is left alone.`;
    this.#context.problems.set(problem?.code ?? 'path-special', { path }, detail);
    this.detection.settled.push(path);
  }

  async #judgeAbsent(unsettled: DirtyPath, row: DiskEntry | undefined): Promise<void> {
    const isShown = row?.fingerprint !== undefined;
    if (!isShown) this.detection.lost.push(unsettled.path);
    if (!isShown || !this.#missing.isDeleteHeld(unsettled, row)) {
      await this.#compare(unsettled.path, { state: 'absent' }, row);
    }
  }

  async #judgeEntry(unsettled: DirtyPath, observation: ExistingEntry, row: DiskEntry | undefined): Promise<void> {
    const { path } = unsettled;
    const { fingerprint } = observation;
    const isDirectory = isDirectoryMode(fingerprint.mode);
    const known = row?.fingerprint?.ino === fingerprint.ino;
    // The inode number proves nothing here: a new directory often gets that of a removed one, and has no watch.
    if (isDirectory) this.detection.scan.push(path);
    const isPlace = isDirectory && row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode);
    if (!known && !isPlace) {
      if (await this.#judgeRename(unsettled, observation, row)) return;
    }
    if (observation.state === 'large') {
      const modifiedAgoMs = this.#context.clock.wallMs() - fingerprint.mtimeMs;
      const dueMs = largeFileDueMs(unsettled, fingerprint.size, modifiedAgoMs, this.#nowMs);
      if (dueMs === undefined) this.detection.large.push(unsettled);
      else this.detection.deferred.push({ unsettled, dueMs, isLarge: true });
      return;
    }
    if (row !== undefined && observation.state === 'file' && (await this.#judgeDoubt(unsettled, observation, row)))
      return;
    if (observation.state === 'file' || observation.state === 'directory' || observation.state === 'symlink') {
      const isTorn = row && observation.state === 'file' && this.#context.lastBoot.mayHaveTorn(row, observation);
      await this.#compare(path, observation, isTorn ? { ...row, damaged: true } : row);
    }
  }

  /** Adds the drafts of a rename to the path. False if it is none. */
  async #judgeRename(unsettled: DirtyPath, existing: ExistingEntry, row: DiskEntry | undefined): Promise<boolean> {
    const drafts = await detectRename(this.#context, existing, row, (path) => this.#changes.has(path));
    if (drafts === undefined) return false;
    for (const draft of drafts) {
      this.#changes.add(draft);
      // Neither path is compared any more: the entry that had a problem is replaced or moved away.
      this.#context.problems.clearPath(draft.path);
    }
    this.detection.settled.push(unsettled.path);
    // The file was taken for the renamed one without reading. If it is another one, the others have wrong bytes until it is read.
    if (existing.state === 'large') this.detection.followed.push({ path: unsettled.path, next: unsettled.path });
    return true;
  }

  /** Handles a file that is either an edit or damage: keeps it under another name and has the row's content fetched. False: it is an edit. */
  async #judgeDoubt(unsettled: DirtyPath, seen: Observation & { state: 'file' }, row: DiskEntry): Promise<boolean> {
    const doubt = judgeDoubt(this.#context, row, seen);
    // Members that were silent for so long cannot say that they have the content.
    if (doubt === 'none' || (doubt === 'undecided' && this.#nowMs - unsettled.firstMs >= undecidedMsMax)) return false;
    if (doubt === 'undecided') {
      this.detection.defer(unsettled, undecidedRetryMs);
      return true;
    }
    const { fingerprint, content, racy } = seen;
    // The program that wrote it may store more through a mapping.
    const marks = { racy, unconfirmed: unconfirmedAt(fingerprint, this.#wallMs) };
    const damaged = { ...damagedEntry(row.dot, fingerprint, content), ...marks };
    if (doubt === 'torn') {
      this.#changes.record({ path: row.path, entry: { ...damaged, cut: true } });
      this.#context.lastBoot.found(row.path);
      this.detection.settle(row.path);
      return true;
    }
    const kept = await keepDoubtful(this.#context, row, seen);
    if (kept === 'never') return false;
    if (kept === 'not-now') {
      this.detection.retryProblem(unsettled);
      return true;
    }
    this.#changes.record({ path: row.path, entry: damaged });
    if (this.#context.lastBoot.mayEndTorn(row, seen)) this.#context.lastBoot.found(row.path);
    this.detection.followed.push({ path: row.path, next: kept.copy });
    this.detection.settle(row.path);
    return true;
  }

  async #compare(path: string, seen: Seen, row: DiskEntry | undefined): Promise<void> {
    this.detection.settle(path);
    if (seen.state === 'absent') this.#context.problems.clearBelow(path);
    await this.#comparison.compare(path, seen, row);
  }
}

/** The problems of an entry that the disk or its permissions keep the agent from reading. */
const unreadCodes: ReadonlySet<ProblemCode> = new Set(['path-permission', 'path-io']);
/** How long a possible damage waits for members to say whether they have the previous content, and the interval of the checks. */
const undecidedMsMax = 10_000;
const undecidedRetryMs = 200;

function isDirectoryRow(row: DiskEntry | undefined): boolean {
  return row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode);
}

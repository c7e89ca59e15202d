import { batchPathsMax, isLive, type Operation, parentOf } from '@lockstep/shared';
import { unconfirmedAt } from '../../core/confirmation.ts';
import { conflictPath, originalPath } from '../../core/conflict-name.ts';
import { entryFor, type Fingerprint, isSameFingerprint, mayBeSameInode, permissions } from '../../core/entry.ts';
import type { Action } from '../../core/plan/action.ts';
import { judgeAfterPowerCut, type Left, type Verdict } from '../../core/power-cut.ts';
import type { Boot } from '../ports/clock.ts';
import type { DiskChange, DiskEntry } from '../ports/journal.ts';
import type { Observation } from '../ports/observation.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { PowerCutReport } from './power-cut-report.ts';

/** Names of the journal settings that hold the boot of the machine in which the agent last ran, and when it began. */
const bootSetting = 'boot-id';
const beganSetting = 'boot-began';
/** Ordinary clock adjustments are smaller than this. */
const clockStepMs = 1_000;
/** Name of the setting that says whether the agent is running, or was killed. */
const runningSetting = 'running';
/**
 * Name of the setting that holds the end of the boot in which the machine stopped while the agent ran. It stays until the folder was
 * compared with the journal since: the start that finds it may itself be stopped before that.
 */
const cutOffSetting = 'cut-off-at';
const folderRetryMs = 1_000;
const examineRetryMs = 1_000;
/** Number of the newest log rows of a path to search for an operation that a power cut brings back. */
const earlierMax = 64;
/** Number of names to try for a conflict copy; the next one is tried if other bytes with the same time have the name. */
const copyNamesMax = 8;

/**
 * Examines users' changes that no sync had made durable when the machine stopped. It does so before anything else examines the
 * folder: the effects of a power cut are no edits, and must not be published over the good versions of the others.
 */
export class PowerCutCheck {
  readonly #context: Context;
  readonly #report: PowerCutReport;
  #isScanned = false;
  #stopped = false;

  constructor(context: Context) {
    this.#context = context;
    this.#report = new PowerCutReport(context);
    context.lastBoot.isExamined = false;
    context.facts.scanned.on(() => {
      this.#isScanned = true;
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#report.stop();
    try {
      this.#context.journal.settings.set(runningSetting, 'no');
    } catch (error) {
      this.#context.log.warn({ error: String(error) }, 'the end of the agent could not be recorded');
    }
  }

  /**
   * Keeps the folder locked until all changes were examined. In the boot of the last run, only the disk can have lost data, for example
   * because it was removed. Call it before any other loop starts. `done` is called at the end if anything was found. `boot`: undefined
   * if it is unknown.
   */
  begin(boot: Boot | undefined, done: () => void): void {
    const { journal, lastBoot } = this.#context;
    const isSameBoot = boot !== undefined && journal.settings.get(bootSetting) === boot.id;
    if (journal.settings.get(runningSetting) !== 'yes') journal.settings.set(runningSetting, 'yes');
    else if (boot !== undefined && !isSameBoot) journal.settings.set(cutOffSetting, `${boot.beganMs}`);
    const cutOff = journal.settings.get(cutOffSetting) ?? '';
    if (cutOff !== '') {
      lastBoot.stopped(Number(cutOff), (path) => {
        this.#report.fetched.push(path);
        this.#report.tellSoon(done);
      });
    }
    if (boot === undefined || !isSameBoot) {
      this.#run(boot, (paths) => this.#examineBatch(paths, boot?.beganMs), done);
      return;
    }
    const beganMs = Number(journal.settings.get(beganSetting) ?? 0);
    const clockWasSet = Math.abs(boot.beganMs - beganMs) > clockStepMs;
    if (journal.disk.unsynced().paths.length > 0) {
      this.#run(clockWasSet ? boot : undefined, (paths) => this.#examineLost(paths, clockWasSet), done);
      return;
    }
    if (clockWasSet) this.#remember(boot);
    lastBoot.isExamined = true;
  }

  #remember({ id, beganMs }: Boot): void {
    const { settings } = this.#context.journal;
    settings.set(beganSetting, `${beganMs}`);
    settings.set(bootSetting, id);
  }

  /** `boot`: the one to remember once all is examined. */
  #run(boot: Boot | undefined, examine: (paths: readonly string[]) => Promise<void>, done: () => void): void {
    const { lock, log, lastBoot, clock } = this.#context;
    const examined = lock.run(() => this.#examine(examine));
    examined.then(
      () => {
        if (this.#stopped) return;
        lastBoot.isExamined = true;
        if (boot !== undefined) this.#remember(boot);
        if (this.#report.tell()) done();
      },
      (error: unknown) => {
        log.error({ error: String(error) }, 'the effects of a power cut could not be examined; this is retried');
        clock.after(examineRetryMs, () => {
          if (!this.#stopped) this.#run(boot, examine, done);
        });
      },
    );
  }

  /** The first scan of the folder is done and all its findings were examined, the last writes before the machine stopped included. */
  compared(): void {
    const { journal } = this.#context;
    if (this.#isScanned && (journal.settings.get(cutOffSetting) ?? '') !== '') journal.settings.set(cutOffSetting, '');
  }

  async #examine(examine: (paths: readonly string[]) => Promise<void>): Promise<void> {
    const { journal } = this.#context;
    const paths = journal.disk.unsynced().paths.toSorted();
    for (let from = 0; from < paths.length && !this.#stopped; from += batchPathsMax) {
      await examine(paths.slice(from, from + batchPathsMax));
    }
  }

  /** Judges and records paths. `bootedMs`: start of the boot; a change after it is not the effect of a power cut. */
  async #examineBatch(paths: readonly string[], bootedMs?: number): Promise<void> {
    const { journal } = this.#context;
    const observations = await this.#observe(paths, true);
    const changes: DiskChange[] = [];
    for (const observation of observations) {
      const left = leftBy(observation);
      const row = journal.disk.at(observation.path);
      const shown = row && journal.log.operation(row.dot);
      if (left === undefined || row === undefined || shown === undefined) continue;
      // A row without a fingerprint belongs to a live operation only if that is not applied here.
      if (row.fingerprint === undefined && isLive(shown)) continue;
      const isTouched = left.state !== 'absent' && this.#isTouched(row, left.fingerprint, bootedMs);
      const verdict = this.#judge(row, shown, left, isTouched);
      // The row keeps its fingerprint: the next detection examines what the user put there, for example a conflict copy of the file.
      if (verdict.is === 'whole' && isTouched && !isAsBefore(row, left)) continue;
      const isLost = verdict.is === 'damaged' && verdict.isSomebodys && !(await this.#isKeptAside(observation));
      // Without a copy the bytes stay where they are, as an edit.
      changes.push(...this.#note(row, shown, isLost ? { is: 'edited' } : verdict, observation));
    }
    journal.disk.record(changes);
  }

  async #isKeptAside(seen: Observation): Promise<boolean> {
    if (seen.state !== 'file' && seen.state !== 'symlink') return true;
    const kept = await keepAside(this.#context, seen);
    if (kept?.isNew) this.#report.copies.push(kept.copy);
    return kept !== undefined;
  }

  /**
   * True if a user changed the entry after the boot. Also true if one renamed a conflict copy to the name of its original since the row was
   * recorded.
   */
  #isTouched({ path, fingerprint: before }: DiskEntry, now: Fingerprint, bootedMs: number | undefined): boolean {
    if (bootedMs !== undefined && now.ctimeMs > bootedMs) return true;
    if (before === undefined) return false;
    return this.#context.journal.disk
      .withInode(now.ino)
      .some(
        (row) =>
          row.path !== path &&
          originalPath(row.path) === path &&
          row.fingerprint &&
          mayBeSameInode(row.fingerprint, now),
      );
  }

  /** Observes paths; retries while the folder is missing. */
  async #observe(paths: readonly string[], hashLarge: boolean): Promise<readonly Observation[]> {
    const { folder, clock } = this.#context;
    for (;;) {
      const seen = await folder.observe(paths.map((path) => ({ path, hashLarge, tail: true })));
      const isMissing = seen.some((one) => one.state === 'problem' && one.code === 'folder-missing');
      if (this.#stopped) return [];
      if (!isMissing) return seen;
      await new Promise<void>((resolve) => clock.after(folderRetryMs, resolve));
    }
  }

  /**
   * Records data that the disk alone lost: entries that differ from their row without a later change time, which no user can set back. The
   * user may have made the change if another file has the name, possibly from a directory moved there. So may they if the row was recorded
   * in the tick of the change. If the clock was set, change times prove nothing. Such a change supersedes nothing.
   */
  async #examineLost(paths: readonly string[], clockWasSet: boolean): Promise<void> {
    const { journal, clock } = this.#context;
    const seen = await this.#observe(paths, false);
    // The folder itself has no row, so entries missing at its top cannot be judged.
    const above = new Set(seen.flatMap(({ path, state }) => (state === 'absent' ? [parentOf(path)] : [])));
    above.delete('');
    const parents = new Map((await this.#observe([...above], false)).map((one) => [one.path, one]));
    const changes: DiskChange[] = [];
    const lost: string[] = [];
    for (const one of seen) {
      const row = journal.disk.at(one.path);
      const before = row?.fingerprint;
      if (row === undefined || before === undefined) continue;
      // A time in the future: the clock was set back since.
      const isTimeProof = !clockWasSet && before.ctimeMs <= clock.wallMs();
      if ('fingerprint' in one) {
        // Other bytes under the same fingerprint are a store through a mapping.
        if (isSameFingerprint(before, one.fingerprint)) continue;
        if (isTimeProof && one.fingerprint.ctimeMs > before.ctimeMs) continue;
        const isSameInode = mayBeSameInode(before, one.fingerprint);
        if (isTimeProof && isSameInode && !mayBeSameTick(row, one)) lost.push(one.path);
        // The times of a directory change with its entries.
        else if (one.state !== 'directory' || !isSameInode) {
          const { dot, unsynced } = row;
          changes.push({ path: one.path, entry: { dot, fingerprint: before, damaged: true, unsynced } });
        }
      } else if (one.state === 'absent' && isTimeProof) {
        const directory = parentOf(one.path);
        const parent = parents.get(directory);
        const known = journal.disk.at(directory)?.fingerprint;
        if (parent?.state !== 'directory' || known === undefined || !mayBeSameInode(known, parent.fingerprint))
          continue;
        if (parent.fingerprint.ctimeMs < before.ctimeMs) lost.push(one.path);
      }
    }
    journal.disk.record(changes);
    await this.#examineBatch(lost);
  }

  #judge(row: DiskEntry, shown: Operation, left: Left, isTouched: boolean): Verdict {
    const { journal } = this.#context;
    const { path } = row;
    const earlier = journal.log
      .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: earlierMax })
      .map(({ operation }) => operation);
    // At another path it may be the only file with this content, if the right one was lost as well.
    const isKnown = left.state === 'file' && journal.log.everHad(path, left);
    return judgeAfterPowerCut({ row, shown, left, earlier, isKnown, isTouched });
  }

  #note({ path, ...row }: DiskEntry, shown: Operation, verdict: Verdict, seen: Observation): readonly DiskChange[] {
    const racy = seen.state === 'file' && seen.racy;
    const wallMs = this.#context.clock.wallMs();
    const dot = { origin: shown.origin, seq: shown.seq };
    switch (verdict.is) {
      case 'edited':
        // The row's fingerprint is not that of the entry: the next detection finds an edit whose author did not see `shown`.
        if (row.fingerprint === undefined) return [];
        // Another power cut may undo the edit before that: the row stays one to examine.
        return [{ path, entry: { dot, fingerprint: row.fingerprint, damaged: true, unsynced: row.unsynced } }];
      case 'whole': {
        const { unsynced } = row;
        const unconfirmed = row.unconfirmed && 'dirty';
        return [entryFor(path, shown, verdict.fingerprint, racy, { unsynced, unconfirmed })];
      }
      case 'undone': {
        const { fingerprint, isWhole } = verdict;
        this.#report.undone.push(path);
        const unconfirmed = unconfirmedAt(fingerprint, wallMs);
        const { entry } = entryFor(path, verdict.shown, fingerprint, racy, { unconfirmed });
        return [{ path, entry: entry && (isWhole ? entry : { ...entry, damaged: true, cut: true }) }];
      }
      case 'gone':
        this.#report.fetched.push(path);
        return [{ path, entry: undefined }];
      case 'damaged': {
        const { fingerprint, content } = verdict;
        this.#report.fetched.push(path);
        const found = content === undefined && seen.state === 'file' ? seen.content : undefined;
        const marks = { damaged: true, found, cut: true, racy, unconfirmed: unconfirmedAt(fingerprint, wallMs) };
        return [{ path, entry: { dot, content, fingerprint, ...marks } }];
      }
    }
  }
}

function isAsBefore({ fingerprint: before }: DiskEntry, left: Left): boolean {
  return left.state !== 'absent' && before !== undefined && isSameFingerprint(before, left.fingerprint);
}

/** The entry at the path; undefined if it is unknown. */
function leftBy(seen: Observation): Left | undefined {
  switch (seen.state) {
    case 'absent':
    case 'directory':
    case 'symlink':
      return seen;
    case 'file':
      return { ...seen, endsInZeros: seen.endsInZeros ?? false };
    default:
      return undefined;
  }
}

/** True if the user may have written again within the clock tick in which the row was recorded, and the bytes are plausible. */
function mayBeSameTick(row: DiskEntry, seen: Observation): boolean {
  if (row.racy !== true || seen.state !== 'file' || seen.fingerprint.ctimeMs !== row.fingerprint?.ctimeMs) return false;
  return seen.fingerprint.size > 0 && seen.endsInZeros !== true;
}

/** The entry that a power cut left at a path. */
type LeftOver = Observation & { readonly state: 'file' | 'symlink' };

/**
 * Makes a conflict copy of the entry at a path: an ordinary file, which is journaled as one. Without room the entry itself is renamed.
 * Resolves with the name of the copy, which may be there already; undefined if neither could be done.
 */
async function keepAside(
  context: Context,
  seen: LeftOver,
): Promise<{ readonly copy: string; readonly isNew: boolean } | undefined> {
  const { folder, self } = context;
  const { path, fingerprint } = seen;
  for (let attempt = 0; attempt < copyNamesMax; attempt++) {
    const copy = conflictPath(path, Math.max(0, Math.floor(fingerprint.mtimeMs)) * 1_024 + attempt, self.name);
    const [there] = await folder.observe([{ path: copy, hashLarge: true }]);
    if (there !== undefined && isSame(there, seen)) return { copy, isNew: false };
    if (there?.state !== 'absent') continue;
    const [copied] = await applyActions(context, [{ action: copyAction(seen, copy) }]);
    if (copied?.result !== 'done') {
      const rename = { do: 'rename', from: path, to: copy, expectedFrom: fingerprint, expected: 'absent' } as const;
      const [moved] = await applyActions(context, [{ action: rename }]);
      // A program has made another file under that name, or the disk fails.
      if (moved?.result !== 'done') continue;
    }
    return { copy, isNew: true };
  }
  return undefined;
}

function isSame(there: Observation, seen: LeftOver): boolean {
  if (there.state === 'file') return seen.state === 'file' && there.content === seen.content;
  return there.state === 'symlink' && seen.state === 'symlink' && there.target === seen.target;
}

function copyAction(seen: LeftOver, path: string): Action {
  const { fingerprint, mtimeUs } = seen;
  if (seen.state === 'symlink') return { do: 'symlink', path, expected: 'absent', target: seen.target, mtimeUs };
  const { content, blocks } = seen;
  const source = { from: 'file', path: seen.path, fingerprint } as const;
  const mode = permissions(fingerprint.mode);
  return { do: 'write', path, expected: 'absent', content, blocks, size: fingerprint.size, mode, mtimeUs, source };
}

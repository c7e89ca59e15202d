import { batchPathsMax, isBelow } from '@lockstep/shared';
import { type DiskChange, type DiskEntry, entryFor, mayBeSameInode } from '../../core/entry.ts';
import { findLocalChange, type Seen } from '../../core/local-change.ts';
import type { PlanStep } from '../../core/plan/plan-step.ts';
import type { Observation } from '../ports/folder.ts';
import type { Journal } from '../ports/journal.ts';
import type { Context } from '../state/context.ts';

/** Under this name the journal keeps where the last batch was about to put something, or to take something away. */
const batchSetting = 'batch';
const nothing = '[]';
/** How far back an operation can lie that was put on the disk and not recorded before the agent was killed. */
const journaledMax = 64;

/** `whole`: a directory that is moved there, or away from there, with all that is in it. */
interface Target {
  readonly path: string;
  readonly whole?: true;
}

/**
 * Notes where a batch is about to put something or to take something away. An agent that is killed before it records what it did could
 * not tell that from what users do: a file that others delete meanwhile would be published as new, an edit of what it had just put there
 * would supersede what it had taken away, which its user did not see, and a file that it removed, and that somebody puts back, would be
 * deleted once more.
 */
export function noteBatch(journal: Journal, steps: readonly PlanStep[]): void {
  const targets = steps.flatMap(({ path, request: { action } }): readonly Target[] => {
    switch (action.do) {
      case 'attr':
        return [];
      case 'rename':
        return [{ path }, { path: action.from }];
      case 'rename-directory':
        return [
          { path, whole: true },
          { path: action.from, whole: true },
        ];
      default:
        return [{ path }];
    }
  });
  if (targets.length > 0) journal.noteSetting(batchSetting, JSON.stringify(targets));
}

/** Records what the batch did, and that it is over. */
export function recordBatch(journal: Journal, changes: readonly DiskChange[]): void {
  const isNoted = (journal.setting(batchSetting) ?? nothing) !== nothing;
  if (changes.length === 0 && !isNoted) return;
  journal.transaction(() => {
    if (changes.length > 0) journal.recordDisk(changes);
    if (isNoted) journal.noteSetting(batchSetting, nothing);
  });
}

/**
 * Records what the last run did to the folder and was killed before it could record. To be called before the first operation of
 * another member arrives.
 */
export async function recordInterruptedBatch(context: Context): Promise<void> {
  const { journal, lock } = context;
  const targets = JSON.parse(journal.setting(batchSetting) ?? nothing) as readonly Target[];
  if (targets.length === 0) return;
  const paths = targets.flatMap((target) => pathsOf(journal, target));
  let isSeen = true;
  for (let from = 0; from < paths.length; from += batchPathsMax) {
    isSeen = (await lock.run(() => recordPaths(context, paths.slice(from, from + batchPathsMax)))) && isSeen;
  }
  // What could not be looked at, while the folder is away, is looked at by the next start.
  if (isSeen) journal.noteSetting(batchSetting, nothing);
}

/** Of a directory that was moved whole, also the paths in it that are not recorded, or that it had where it was. */
function pathsOf(journal: Journal, { path, whole }: Target): readonly string[] {
  if (!whole) return [path];
  const paths = [path];
  for (let after: string | undefined; ; ) {
    const rows = journal.diskBelow(path, after, batchPathsMax);
    paths.push(...rows.map((row) => row.path));
    after = rows.at(-1)?.path;
    if (rows.length < batchPathsMax) break;
  }
  for (let after = path; ; ) {
    const rows = journal.pending({ which: 'live', after, limit: batchPathsMax });
    paths.push(...rows.map((row) => row.path).filter((pending) => isBelow(pending, path)));
    const last = rows.at(-1)?.path;
    // Paths that begin like the directory's, and go on with a character before the slash, lie between it and what is in it.
    if (last === undefined || rows.length < batchPathsMax || last >= `${path}0`) break;
    after = last;
  }
  return paths;
}

/** False where not all of them could be looked at. */
async function recordPaths(context: Context, paths: readonly string[]): Promise<boolean> {
  const { journal, folder } = context;
  const rows = paths.map((path) => journal.disk(path));
  const contents = rows.flatMap((row) => (row?.content === undefined ? [] : [row.content]));
  const kept = await folder.inHistory(contents);
  const observations = await folder.observe(
    paths.map((path, index) => ({ path, expected: unreadIf(rows[index]), hashLarge: true })),
  );
  const changes: DiskChange[] = [];
  for (const [index, observation] of observations.entries()) {
    const row = rows[index];
    const isKept = row?.content === undefined || kept.has(row.content);
    if (isEntry(observation)) changes.push(...changesFor(context, observation, row, isKept));
  }
  journal.recordDisk(changes);
  return observations.every(({ state }) => state !== 'problem' && state !== 'changing');
}

function unreadIf(row: DiskEntry | undefined): DiskEntry['fingerprint'] {
  return row?.racy ? undefined : row?.fingerprint;
}

function isEntry(observation: Observation): observation is Observation & Seen {
  return ['absent', 'file', 'directory', 'symlink'].includes(observation.state);
}

/** `isKept`: what the row shows is in history or has no content, so that the agent may have replaced it. */
function changesFor(
  { journal }: Context,
  seen: Observation & Seen,
  row: DiskEntry | undefined,
  isKept: boolean,
): readonly DiskChange[] {
  const { path } = seen;
  const finding = findLocalChange({
    path,
    seen,
    row,
    shown: row && journal.operation(row.dot),
    head: journal.heads(path)[0],
    isKept,
    isInterrupted: true,
    journaled: () =>
      journal.log({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: journaledMax }).map(({ operation }) => operation),
  });
  if (finding.do === 'adopt') {
    return [entryFor(path, finding.head, finding.fingerprint, finding.racy, { unsynced: true })];
  }
  if (finding.do !== 'draft' || row?.fingerprint === undefined || !isKept) return [];
  // In place: its user had what the row shows before their eyes.
  if (seen.state !== 'absent' && mayBeSameInode(row.fingerprint, seen.fingerprint)) return [];
  // Nobody can say whether they had that, or what was put there. As an edit of damage theirs supersedes neither, and no delete counts.
  const { dot, fingerprint } = row;
  return [{ path, entry: { dot, fingerprint, damaged: true } }];
}

import { batchPathsMax, dotKey, isBelow, type Operation } from '@lockstep/shared';
import { type DiskChange, type DiskEntry, entryFor, mayBeSameInode } from '../../core/entry.ts';
import { findLocalChange, type Seen } from '../../core/local-change.ts';
import { isSameContent } from '../../core/merge.ts';
import type { PlanStep } from '../../core/plan/plan-step.ts';
import type { Journal } from '../ports/journal.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

/** Name of the journal setting that holds the paths which the last batch was about to change. */
const batchSetting = 'batch';
const nothing = '[]';
/** Number of the newest log rows of a path to search for an operation that was applied but not recorded before the agent was killed. */
const journaledMax = 64;
/** Number of paths of failed steps that the journal notes: all of a batch. */
const notedMax = batchPathsMax;

/** A path that a batch changes. `from`: the path from which the batch moves an entry to it. */
interface Changed {
  readonly path: string;
  readonly from?: string | undefined;
}

/** `whole`: a directory that is moved to or from the path with all its entries. */
interface Target extends Changed {
  readonly whole?: true;
}

/**
 * Notes the paths at which a batch is about to put or remove entries. An agent that is killed before it records the results
 * could not distinguish them from users' changes:
 * - a file that others delete meanwhile would be published as new;
 * - an edit of an entry just put there would supersede the replaced entry, which the user did not see;
 * - a removed file that is put back would be deleted again.
 *
 * `unseen`: paths of earlier batches that are still to be examined.
 */
export function noteBatch(journal: Journal, steps: readonly PlanStep[], unseen: readonly Target[] = []): void {
  const targets = targetsOf(steps);
  if (targets.length > 0) journal.settings.note(batchSetting, JSON.stringify([...unseen, ...targets]));
}

function targetsOf(steps: readonly PlanStep[]): readonly Target[] {
  return steps.flatMap(({ path, request: { action } }): readonly Target[] => {
    switch (action.do) {
      case 'attr':
        return [];
      case 'rename':
        return [{ path, from: action.from }, { path: action.from }];
      case 'rename-directory':
        return [
          { path, from: action.from, whole: true },
          { path: action.from, whole: true },
        ];
      default:
        return [{ path }];
    }
  });
}

/** Records the results of the batch, and that it has ended. `unseen`: paths that are still to be examined. */
export async function recordBatch(
  { journal, splitter }: Pick<Context, 'journal' | 'splitter'>,
  changes: readonly DiskChange[],
  unseen: readonly Target[] = [],
): Promise<void> {
  const left = JSON.stringify(unseen);
  const isNoted = (journal.settings.get(batchSetting) ?? nothing) !== left;
  if (changes.length === 0 && !isNoted) return;
  let recorded = 0;
  // A batch of which only a part was recorded is examined at the next start: the note goes with the last part.
  for await (const part of splitter.split(changes)) {
    recorded += part.length;
    journal.transaction(() => {
      if (part.length > 0) journal.disk.record(part);
      if (isNoted && recorded === changes.length) journal.settings.note(batchSetting, left);
    });
  }
}

/**
 * Records the effects of failed or interrupted steps: the disk may fail after the rename. If others delete such an entry before a detection
 * finds it, it would be published as new; an edit of it would supersede the replaced entry, which the user did not see.
 *
 * If the disk fails here too, a row may still name an entry that the agent has removed. Another member may put back that very content: the
 * row would then describe it, and an entry that a user makes at the free path would supersede it. So no step is planned at such a path
 * before it was examined. Use it under the folder lock.
 */
export class FailedSteps {
  readonly #context: Context;
  /** The paths, each with the path from which a step was to move an entry to it. */
  readonly #unseen = new Map<string, string | undefined>();

  constructor(context: Context) {
    this.#context = context;
    context.facts.actionUnclear.on((path) => void this.#unseen.set(path, undefined));
  }

  /** True if it is unknown what the agent did at the path. */
  isUnseen(path: string): boolean {
    return this.#unseen.has(path);
  }

  /** Those that the next start must examine if the agent is killed. */
  get noted(): readonly Target[] {
    return [...this.#unseen].slice(-notedMax).map(([path, from]) => ({ path, from }));
  }

  /**
   * Records the changes that the last run made to the folder but could not record before it was killed. Call it before the first operation
   * of another member arrives. Paths that cannot be examined now, because the folder is away or the disk fails, are treated like those of
   * failed steps.
   */
  async recordInterrupted(): Promise<void> {
    const { journal } = this.#context;
    const targets = JSON.parse(journal.settings.get(batchSetting) ?? nothing) as readonly Target[];
    if (targets.length === 0) return;
    await this.#see(targets.flatMap((target) => pathsOf(journal, target)));
    // They are left to the next start too, unless a batch is noted before that.
    if (this.#unseen.size === 0) journal.settings.note(batchSetting, nothing);
  }

  /** Records the effects of these steps. */
  async record(steps: readonly PlanStep[]): Promise<void> {
    await this.#examine(targetsOf(steps).flatMap((target) => pathsOf(this.#context.journal, target)));
  }

  /** Examines paths again that the disk did not show. */
  async examine(paths: readonly string[]): Promise<void> {
    await this.#examine(paths.map((path) => ({ path, from: this.#unseen.get(path) })));
  }

  /** Examines paths, and notes those that the disk does not show. */
  async #examine(changed: readonly Changed[]): Promise<void> {
    await this.#see(changed);
    await recordBatch(this.#context, [], this.noted);
  }

  async #see(changed: readonly Changed[]): Promise<void> {
    for (const chunk of chunksOf(changed)) {
      for (const { path, from } of chunk) this.#unseen.set(path, from);
      try {
        const unseen = new Set(await recordPaths(this.#context, chunk));
        for (const { path } of chunk) if (!unseen.has(path)) this.#unseen.delete(path);
      } catch (error) {
        const { log } = this.#context;
        log.warn(
          { error: String(error) },
          'the results of failed or interrupted steps cannot be examined; this is tried again',
        );
      }
    }
  }
}

function* chunksOf(changed: readonly Changed[]): Iterable<readonly Changed[]> {
  for (let at = 0; at < changed.length; at += batchPathsMax) yield changed.slice(at, at + batchPathsMax);
}

/** The paths of a target. For a directory moved as a whole, also the paths in it, recorded or pending. */
function pathsOf(journal: Journal, { path, from, whole }: Target): readonly Changed[] {
  if (!whole) return [{ path, from }];
  const paths = [path];
  for (let after: string | undefined; ; ) {
    const rows = journal.disk.below(path, after, batchPathsMax);
    for (const row of rows) paths.push(row.path);
    after = rows.at(-1)?.path;
    if (rows.length < batchPathsMax) break;
  }
  for (let after = path; ; ) {
    const rows = journal.heads.pending({ which: 'live', after, limit: batchPathsMax });
    paths.push(...rows.map((row) => row.path).filter((pending) => isBelow(pending, path)));
    const last = rows.at(-1)?.path;
    // Paths that begin with the directory's path and go on with a character before the slash sort between it and its entries.
    if (last === undefined || rows.length < batchPathsMax || last >= `${path}0`) break;
    after = last;
  }
  return paths.map((below) => ({ path: below, from: from && from + below.slice(path.length) }));
}

/** Records the changes at these paths. Resolves with those that could not be observed. */
async function recordPaths(context: Context, changed: readonly Changed[]): Promise<readonly string[]> {
  const { journal, folder } = context;
  const rows = changed.map(({ path }) => journal.disk.at(path));
  const contents = rows.flatMap((row) => (row?.content === undefined ? [] : [row.content]));
  const kept = await folder.inHistory(contents);
  const observations = await folder.observe(
    changed.map(({ path }, index) => ({ path, expected: unreadIf(rows[index]), hashLarge: true })),
  );
  const changes: DiskChange[] = [];
  for (const [index, observation] of observations.entries()) {
    const row = rows[index];
    const isKept = row?.content === undefined || kept.has(row.content);
    const from = changed[index]?.from;
    if (isEntry(observation)) changes.push(...changesFor(context, { seen: observation, row, isKept, from }));
  }
  if (changes.length > 0) journal.disk.record(changes);
  return observations.filter(({ state }) => state === 'problem' || state === 'changing').map(({ path }) => path);
}

function unreadIf(row: DiskEntry | undefined): DiskEntry['fingerprint'] {
  return row?.racy ? undefined : row?.fingerprint;
}

function isEntry(observation: Observation): observation is Observation & Seen {
  return ['absent', 'file', 'directory', 'symlink'].includes(observation.state);
}

/**
 * The rows to record for an entry. `isKept`: the row's content is in history, or it has none, so that the agent may have replaced it.
 * `from`: the path from which the batch was to move an entry here.
 */
function changesFor(
  context: Context,
  entry: {
    readonly seen: Observation & Seen;
    readonly row: DiskEntry | undefined;
    readonly isKept: boolean;
    readonly from: string | undefined;
  },
): readonly DiskChange[] {
  const { journal } = context;
  const { seen, row, isKept, from } = entry;
  const { path } = seen;
  const [head] = journal.heads.at(path);
  const change = findLocalChange({
    path,
    seen,
    row,
    shown: row && journal.log.operation(row.dot),
    head,
    isKept,
    isInterrupted: true,
    journaled: () =>
      journal.log
        .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: journaledMax })
        .map(({ operation }) => operation),
  });
  const isUsers =
    change.do === 'adopt' &&
    (head === undefined || dotKey(change.head) !== dotKey(head)) &&
    wasMovedHere(context, seen, { operation: change.head, from });
  if (change.do === 'adopt' && !isUsers) {
    return [entryFor(path, change.head, change.fingerprint, change.racy, { unsynced: true })];
  }
  // Recorded now: once others have deleted what the entry made room for, its absence would be a user's delete.
  if (change.do === 'forget') return [{ path, entry: undefined }];
  if ((change.do !== 'draft' && !isUsers) || row?.fingerprint === undefined || !isKept) return [];
  // An edit in place: the user had the version of the row before their eyes.
  if (seen.state !== 'absent' && mayBeSameInode(row.fingerprint, seen.fingerprint)) return [];
  // It is unknown which of the two the user saw. As an edit of damage, theirs supersedes neither, and a delete has no effect.
  const { dot, fingerprint } = row;
  return [{ path, entry: { dot, fingerprint, damaged: true } }];
}

/**
 * True if a user moved the file or link here from another path, where it has or had a row: it only equals an earlier version of this path. A
 * detection journals it as renamed. `from`: the path from which the agent itself may have moved it.
 */
function wasMovedHere(
  { journal, replacedRows }: Context,
  seen: Observation & Seen,
  { operation, from }: { readonly operation: Operation; readonly from: string | undefined },
): boolean {
  if (seen.state !== 'file' && seen.state !== 'symlink') return false;
  const rows = [...journal.disk.withInode(seen.fingerprint.ino), replacedRows.of(seen.fingerprint)];
  return rows.some((row) => {
    if (row === undefined || row.path === seen.path || row.path === from) return false;
    if (row.fingerprint === undefined || !mayBeSameInode(row.fingerprint, seen.fingerprint)) return false;
    const shown = journal.log.operation(row.dot);
    return shown !== undefined && isSameContent(shown, operation);
  });
}

import type { Operation } from '@lockstep/shared';
import { entryType, isBelow, isLive } from '@lockstep/shared';
import {
  type DiskChange,
  type DiskEntry,
  entryFor,
  type Fingerprint,
  isDirectoryMode,
  isFileMode,
  isSameTime,
  permissions,
} from '../entry.ts';
import type { PlanStep, PlanView } from './plan-step.ts';

export interface DirectoryRename {
  readonly step: PlanStep;
  /** Every path of the old and the new tree that the rename covers: nothing is left to do for them. */
  readonly dealtWith: readonly string[];
  readonly directories: readonly string[];
}

/**
 * Plans a single rename(2) if `head` renames a directory, and every entry in the old one goes to the same place in the new one. Undefined
 * otherwise; then its entries are moved one by one. `leaving`: the paths that earlier steps remove.
 */
export function planDirectoryRename(
  head: Operation,
  view: PlanView,
  leaving: ReadonlySet<string>,
): DirectoryRename | undefined {
  const { from, path } = head;
  if (from === undefined || head.span === undefined || isBelow(path, from) || !view.movesWhole(head)) return undefined;
  const old = view.disk(from);
  const gone = view.head(from);
  if (!old?.fingerprint || !isDirectoryMode(old.fingerprint.mode) || !gone || isLive(gone)) return undefined;
  if (view.ignores(from, true)) return undefined;
  const changes: DiskChange[] = [entryFor(from, gone, undefined, false)];
  const names: string[] = [];
  const dealtWith: string[] = [from];
  const directories: string[] = [];
  for (const { row, before, after, isInTheWay } of view.moved(from, path)) {
    if (leaving.has(row.path)) continue;
    if (row.damaged) return undefined;
    const name = row.path.slice(from.length + 1);
    const target = `${path}/${name}`;
    if (!row.fingerprint || !before || isLive(before) || !after || !isLive(after) || isInTheWay) return undefined;
    const isDirectory = isDirectoryMode(row.fingerprint.mode);
    if (view.ignores(row.path, isDirectory) || view.ignores(target, isDirectory)) return undefined;
    if (!isAsOnDisk(row, row.fingerprint, after)) {
      const shown = view.shown(row);
      if (shown === undefined || !isSameEntry(shown, after)) return undefined;
    }
    names.push(name);
    dealtWith.push(row.path, target);
    if (isDirectory) directories.push(target);
    changes.push(entryFor(target, after, row.fingerprint, row.racy ?? false, row));
    changes.push(entryFor(row.path, before, undefined, false));
  }
  const action = {
    do: 'rename-directory',
    from,
    to: path,
    expectedFrom: old.fingerprint,
    names,
    mode: head.mode ?? 0o755,
  } as const;
  const step: PlanStep = {
    request: { action },
    path,
    record: (left, racy) => [entryFor(path, head, left, racy), ...changes],
  };
  return { step, dealtWith, directories };
}

/** True when the entry has all that `after` says. Of a link, and of what the file system could not keep, only the operation of its row tells. */
function isAsOnDisk({ content }: DiskEntry, { mode, mtimeMs }: Fingerprint, after: Operation): boolean {
  if (permissions(mode) !== after.mode) return false;
  const type = entryType(after);
  if (type === 'directory') return isDirectoryMode(mode);
  return (
    type === 'file' && isFileMode(mode) && content === after.content && isSameTime(mtimeMs * 1000, after.mtimeUs ?? 0)
  );
}

/** True when a move of the entry that shows `shown` is enough to show `after`. A link's own time is carried along, not corrected. */
function isSameEntry(shown: Operation, after: Operation): boolean {
  const type = entryType(shown);
  return (
    type === entryType(after) &&
    shown.content === after.content &&
    shown.target === after.target &&
    shown.mode === after.mode &&
    (type === 'symlink' || isSameTime(shown.mtimeUs ?? 0, after.mtimeUs ?? 0))
  );
}

import type { ContentId, Operation } from '@lockstep/shared';
import { entryType, isLive, parentOf } from '@lockstep/shared';
import {
  contentRead,
  type DiskChange,
  type DiskEntry,
  entryFor,
  isDirectoryMode,
  isSameTime,
  type PendingPath,
  permissions,
  type RowMarks,
  remoteEntry,
} from '../entry.ts';
import { type Action, type ActionRequest, type ContentSource, noBytes } from './action.ts';
import { planDirectoryRename } from './directory-rename.ts';
import type { PlanStep, PlanView } from './plan-step.ts';

export interface Plan {
  /** In the order in which they must be carried out. */
  readonly steps: readonly PlanStep[];
  /** The disk already shows these: only the row changes. */
  readonly records: readonly DiskChange[];
  /** Files whose content must be fetched first. */
  readonly needs: readonly Operation[];
  /** Paths with nothing to do now: a parent, a child or the resolver must come first. */
  readonly waiting: readonly string[];
  /** Files that would become remote, although this member has their content below a mount: it may be the only one, so it must not be forgotten. */
  readonly hidden: readonly Operation[];
}

/**
 * Turns pending paths into an ordered list of actions. Renames come before the removal of their old names, parents before children, and new
 * content before the deletes that supply it. (For the last, the caller plans `live` rows before `delete` rows.)
 */
export function planBatch(rows: readonly PendingPath[], view: PlanView): Plan {
  return new Planner(view).run(rows);
}

/** The content to keep in history when the entry at the path is replaced or removed. */
function toKeep({ disk }: PendingPath): ContentId | undefined {
  return disk && contentRead(disk);
}

class Planner {
  readonly #view: PlanView;
  readonly #steps: PlanStep[] = [];
  readonly #records: DiskChange[] = [];
  readonly #needs: Operation[] = [];
  readonly #waiting: string[] = [];
  readonly #hidden: Operation[] = [];
  /** Paths that are directories after a step of this batch, and paths that a rename of this batch covers. */
  readonly #madeDirectories = new Set<string>();
  readonly #dealtWith = new Set<string>();

  constructor(view: PlanView) {
    this.#view = view;
  }

  run(rows: readonly PendingPath[]): Plan {
    for (const row of rows) {
      if (!this.#dealtWith.has(row.path)) this.#planPath(row);
    }
    return {
      steps: this.#steps,
      records: this.#records,
      needs: this.#needs,
      waiting: this.#waiting,
      hidden: this.#hidden,
    };
  }

  #planPath(row: PendingPath): void {
    const head = row.heads[0];
    if (head === undefined) return;
    const type = entryType(head);
    if (this.#view.ignores(row.path, type === 'directory')) {
      // Ignored here: the operation is known and counts as done; the disk is left alone.
      this.#recordAs(row.path, head, undefined);
      return;
    }
    // A directory must be above a live entry, whatever the heads say. The resolver journals that.
    if (type !== 'directory' && this.#view.hasLiveBelow(row.path)) {
      this.#waiting.push(row.path);
      return;
    }
    if (type === 'absent') this.#planAbsent(row, head);
    else if (!this.#parentStands(row.path)) this.#waiting.push(row.path);
    else if (type === 'directory') this.#planDirectory(row, head);
    else if (type === 'symlink') this.#planSymlink(row, head);
    else this.#planFile(row, head);
  }

  #planAbsent(row: PendingPath, head: Operation): void {
    const fingerprint = row.disk?.fingerprint;
    if (fingerprint === undefined) {
      this.#recordAs(row.path, head, row.disk);
      return;
    }
    const action: Action = isDirectoryMode(fingerprint.mode)
      ? { do: 'rmdir', path: row.path }
      : { do: 'unlink', path: row.path, expected: fingerprint, content: row.disk?.content };
    this.#step(row.path, { action, keep: toKeep(row) }, head);
  }

  #planDirectory(row: PendingPath, head: Operation): void {
    const fingerprint = row.disk?.fingerprint;
    this.#madeDirectories.add(row.path);
    if (fingerprint !== undefined && isDirectoryMode(fingerprint.mode)) {
      if (permissions(fingerprint.mode) === head.mode) this.#recordAs(row.path, head, row.disk);
      else {
        this.#step(
          row.path,
          { action: { do: 'attr', path: row.path, expected: fingerprint, mode: head.mode ?? 0o755 } },
          head,
        );
      }
      return;
    }
    const isNew = fingerprint === undefined && !this.#dealtWith.has(head.from ?? '');
    const renamed = isNew ? planDirectoryRename(head, this.#view, this.#dealtWith) : undefined;
    if (renamed !== undefined) {
      this.#steps.push(renamed.step);
      for (const path of renamed.dealtWith) this.#dealtWith.add(path);
      for (const path of renamed.directories) this.#madeDirectories.add(path);
      return;
    }
    const action: Action = { do: 'mkdir', path: row.path, expected: fingerprint ?? 'absent', mode: head.mode ?? 0o755 };
    this.#step(row.path, { action, keep: toKeep(row) }, head);
  }

  #planSymlink(row: PendingPath, head: Operation): void {
    if (this.#directoryInTheWay(row)) return;
    const shown = row.disk && this.#view.shown(row.disk);
    if (
      row.disk?.fingerprint &&
      !row.disk.damaged &&
      shown &&
      entryType(shown) === 'symlink' &&
      shown.target === head.target
    ) {
      // A link's own time is carried along, not corrected: programs do not read it.
      this.#recordAs(row.path, head, row.disk);
      return;
    }
    if (this.#planRename(row, head)) return;
    const action: Action = {
      do: 'symlink',
      path: row.path,
      expected: row.disk?.fingerprint ?? 'absent',
      target: head.target ?? '',
      mtimeUs: head.mtimeUs ?? 0,
    };
    this.#step(row.path, { action, keep: toKeep(row) }, head);
  }

  #planFile(row: PendingPath, head: Operation): void {
    if (this.#directoryInTheWay(row)) return;
    const { content } = head;
    if (content === undefined) return;
    const fingerprint = row.disk?.fingerprint;
    const mode = head.mode ?? 0o644;
    const mtimeUs = head.mtimeUs ?? 0;
    if (row.disk && fingerprint && row.disk.content === content) {
      const sameTime = isSameTime(fingerprint.mtimeMs * 1000, mtimeUs);
      if (permissions(fingerprint.mode) === mode && sameTime) this.#recordAs(row.path, head, row.disk);
      else {
        // Of damage it is known that mode or time are wrong, and nothing else.
        const whole = row.disk.damaged ? undefined : content;
        const action: Action = { do: 'attr', path: row.path, expected: fingerprint, mode, mtimeUs, content: whole };
        // The step makes mode and time durable. A user's bytes under them may not be.
        this.#step(row.path, { action }, head, row.disk);
      }
      return;
    }
    if (this.#planRename(row, head)) return;
    const isWanted = this.#view.isWanted(row.path) || row.disk?.damaged === true;
    const source = head.size === 0 ? noBytes : this.#sourceOf(row, head, isWanted);
    if (source === undefined) {
      if (isWanted) this.#needs.push(head);
      else if (this.#view.isHidden(content)) this.#hidden.push(head);
      else this.#planRemote(row, head);
      return;
    }
    const action: Action = {
      do: 'write',
      path: row.path,
      expected: fingerprint ?? 'absent',
      content,
      blocks: head.blocks,
      size: head.size ?? 0,
      mode,
      mtimeUs,
      source,
    };
    this.#step(row.path, { action, keep: toKeep(row) }, head);
  }

  #sourceOf({ disk }: PendingPath, head: Operation, isWanted: boolean): ContentSource | undefined {
    const source = head.content && this.#view.localSource(head.content);
    // A file of this member is replaced by its next version if that is here: it arrived with its operation, for example.
    if (isWanted || disk?.content !== undefined || (source !== undefined && this.#view.takes(head))) return source;
    // The content on this disk may be the only copy left: that of a conflict copy is at the old path or in history until then.
    return source?.from === 'bytes' ? undefined : source;
  }

  /** The file is fetched on demand: what is out of date is removed now. */
  #planRemote(row: PendingPath, head: Operation): void {
    const fingerprint = row.disk?.fingerprint;
    const remote = remoteEntry(row.path, head);
    if (fingerprint === undefined) {
      this.#records.push(remote);
      return;
    }
    const action: Action = isDirectoryMode(fingerprint.mode)
      ? { do: 'rmdir', path: row.path, isReplaced: true }
      : { do: 'unlink', path: row.path, expected: fingerprint, content: row.disk?.content };
    this.#steps.push({
      request: { action, keep: toKeep(row) },
      path: row.path,
      becomesRemote: true,
      record: () => [remote],
    });
  }

  /**
   * Plans one rename(2) if the file or link was renamed and is still under its old name here, which is to be removed. If the entry changed
   * without a trace (a racy row), the rename carries the change along, and the new row is racy too.
   */
  #planRename(row: PendingPath, head: Operation): boolean {
    const { from } = head;
    if (from === undefined || this.#dealtWith.has(from) || !this.#view.movesWhole(head)) return false;
    const old = this.#view.disk(from);
    const gone = this.#view.head(from);
    if (!old?.fingerprint || !this.#showsSame(old, head)) return false;
    if (gone === undefined || isLive(gone) || this.#view.hasLiveBelow(from) || this.#view.ignores(from, false)) {
      return false;
    }
    const isLink = entryType(head) === 'symlink';
    const action: Action = {
      do: 'rename',
      from,
      to: row.path,
      expectedFrom: old.fingerprint,
      expected: row.disk?.fingerprint ?? 'absent',
      mode: isLink ? undefined : head.mode,
      mtimeUs: isLink ? undefined : head.mtimeUs,
      content: head.content,
    };
    this.#dealtWith.add(from);
    this.#steps.push({
      request: { action, keep: toKeep(row) },
      path: row.path,
      record: (left, racy) => [
        entryFor(row.path, head, left, racy || (old.racy ?? false), old),
        entryFor(from, gone, undefined, false),
      ],
    });
    return true;
  }

  /** True when the entry of this row is what `head` puts at its path, except for mode and time. */
  #showsSame(entry: DiskEntry, head: Operation): boolean {
    if (entry.damaged) return false;
    if (head.content !== undefined) return entry.content === head.content;
    const shown = this.#view.shown(entry);
    return shown !== undefined && entryType(shown) === 'symlink' && shown.target === head.target;
  }

  /** A directory is where a file must go: the file waits until the directory is empty. */
  #directoryInTheWay(row: PendingPath): boolean {
    const fingerprint = row.disk?.fingerprint;
    if (!fingerprint || !isDirectoryMode(fingerprint.mode) || !this.#view.hasDiskBelow(row.path)) return false;
    this.#waiting.push(row.path);
    return true;
  }

  #parentStands(path: string): boolean {
    const parent = parentOf(path);
    if (parent === '' || this.#madeDirectories.has(parent)) return true;
    // A rename of this batch takes the directory away: it exists again when the resolver has journaled it once more.
    if (this.#dealtWith.has(parent)) return false;
    const fingerprint = this.#view.disk(parent)?.fingerprint;
    return fingerprint !== undefined && isDirectoryMode(fingerprint.mode);
  }

  #step(path: string, request: ActionRequest, head: Operation, marks?: RowMarks): void {
    this.#steps.push({ request, path, record: (left, racy) => [entryFor(path, head, left, racy, marks)] });
  }

  #recordAs(path: string, head: Operation, disk: DiskEntry | undefined): void {
    this.#records.push(entryFor(path, head, disk?.fingerprint, disk?.racy ?? false, disk));
  }
}

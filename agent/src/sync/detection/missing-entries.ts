import { vanishedHoldMs } from '@lockstep/shared';
import type { DirtyPath } from '../../core/detection/settle.ts';
import { type DiskEntry, entryFor, isDirectoryMode } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';
import type { ChangeBatch } from './change-batch.ts';
import type { DetectionBuilder } from './detection.ts';

/** Longer than it takes to examine the names that appeared before, which ends the wait. */
const unseenRetryMs = 2_000;
/** Entries of a missing directory that are marked at a time, and how long the directory then waits for them. */
const childrenAtOnceMax = 512;
const childrenRetryMs = 10;

/** Entries that are gone from their paths: says when the delete of each may be journaled. */
export class MissingEntries {
  readonly #context: Context;
  readonly #changes: ChangeBatch;
  readonly #detection: DetectionBuilder;
  readonly #scannedUpToMs: number;

  /** `scannedUpToMs`: see `detectChanges`. */
  constructor(parts: {
    readonly context: Context;
    readonly changes: ChangeBatch;
    readonly detection: DetectionBuilder;
    readonly scannedUpToMs: number;
  }) {
    this.#context = parts.context;
    this.#changes = parts.changes;
    this.#detection = parts.detection;
    this.#scannedUpToMs = parts.scannedUpToMs;
  }

  /**
   * Settles an ignored entry that is gone, without an operation. Its row gets no fingerprint: as that of an existing entry, it
   * would block the delete of a directory above it.
   */
  passOver(path: string, row: DiskEntry | undefined): void {
    const [head] = this.#context.journal.heads.at(path);
    if (row?.fingerprint !== undefined && head !== undefined)
      this.#changes.record(entryFor(path, head, undefined, false));
    this.#detection.settle(path);
  }

  /** True if the delete of a missing entry must wait: the path is deferred. */
  isDeleteHeld(unsettled: DirtyPath, row: DiskEntry): boolean {
    const { nowMs } = this.#detection;
    // The entry may be about to be seen at a new name: a rename then shows users one of its names at any time. The wait counts from
    // the detection that found it missing: at a path that changed often, that one is late, and the one at the new name as late.
    const missingSinceMs = unsettled.missingSinceMs ?? nowMs;
    const heldUntilMs = missingSinceMs + vanishedHoldMs;
    if (this.#scannedUpToMs < missingSinceMs) {
      this.#detection.vanished = true;
      this.#detection.defer({ ...unsettled, missingSinceMs }, unseenRetryMs);
      return true;
    }
    if (nowMs < heldUntilMs) {
      this.#detection.deferred.push({ unsettled: { ...unsettled, missingSinceMs }, dueMs: heldUntilMs });
      return true;
    }
    return this.doChildrenGoFirst(unsettled, row);
  }

  /** Whether the entries of a former directory must be deleted before it: a delete with live entries below would resurrect it. */
  doChildrenGoFirst(unsettled: DirtyPath, row: DiskEntry | undefined): boolean {
    if (row?.fingerprint === undefined || !isDirectoryMode(row.fingerprint.mode)) return false;
    const below = this.#context.journal.disk.below(unsettled.path, undefined, childrenAtOnceMax);
    const open = below.filter((child) => !this.#changes.has(child.path));
    // All of them, not only the first ones, are deleted in this batch.
    if (open.length === 0 && below.length < childrenAtOnceMax) return false;
    for (const child of open) this.#detection.mark.push(child.path);
    this.#detection.defer(unsettled, childrenRetryMs);
    return true;
  }
}

import { isLive, memberOf, type Operation } from '@lockstep/shared';
import { unconfirmedAfter, unconfirmedAt } from '../../core/confirmation.ts';
import {
  type DiskEntry,
  entryFor,
  type Fingerprint,
  isDirectoryMode,
  isSameFingerprint,
  mayBeSameInode,
  permissions,
  type RowMarks,
} from '../../core/entry.ts';
import { type Draft, findLocalChange, isPassedOver, type Seen } from '../../core/local-change.ts';
import { keptContents } from '../contents/kept-contents.ts';
import { findPutBack } from '../integrity/copy-check.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import type { ChangeBatch } from './change-batch.ts';

/** Number of the newest log rows of a path to search for an operation that was applied but not recorded before the agent was killed. */
const journaledMax = 64;

/** Callbacks for paths that need more than a journal entry. */
interface ComparisonEvents {
  /** The path may have changed and must be compared again. */
  readonly changed: (path: string) => void;
  /** The path has a problem and must be compared later. */
  readonly failed: (path: string) => void;
}

/** Compares paths with their rows: each difference becomes a draft of an operation, a new row, or nothing. Use it under the folder lock. */
export class RowComparison {
  readonly #context: Context;
  readonly #changes: ChangeBatch;
  readonly #on: ComparisonEvents;
  readonly #wallMs: number;

  constructor(context: Context, changes: ChangeBatch, on: ComparisonEvents) {
    this.#context = context;
    this.#changes = changes;
    this.#on = on;
    this.#wallMs = context.clock.wallMs();
  }

  /** Compares an observed entry with its row, and adds the difference to the batch. */
  async compare(path: string, seen: Seen, row: DiskEntry | undefined): Promise<void> {
    const { journal, self, lastBoot } = this.#context;
    const shown = row && journal.log.operation(row.dot);
    const [head, ...siblings] = journal.heads.at(path);
    // The results that a kill kept from being recorded were recorded at the start. The note of the batch may not survive a power cut.
    const mayHaveRemoved = self.onDemand === true && lastBoot.wasCutOff && seen.state === 'absent' && head !== shown;
    const change = findLocalChange({
      path,
      seen,
      row,
      shown,
      head,
      mayHaveRemoved,
      ownDelete: siblings.find((each) => !isLive(each) && memberOf(each.origin) === self.id),
      isKept: (mayHaveRemoved || isPassedOver(shown, head)) && (await this.#isKept(row)),
      journaled: () =>
        journal.log
          .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: journaledMax })
          .map(({ operation }) => operation),
    });
    const racy = seen.state === 'file' && seen.racy;
    switch (change.do) {
      case 'nothing':
        return;
      case 'refresh': {
        if (row === undefined) return;
        const { dot } = row;
        const { fingerprint, racy } = change;
        const putBack = shown && head !== shown && (await findPutBack(this.#context, fingerprint, row, shown));
        if (putBack) {
          this.#removeCopies(putBack.removedCopies);
          this.#changes.add({ ...draftAgain(shown), fingerprint, racy });
          return;
        }
        const content = seen.state === 'file' ? seen.content : undefined;
        // A file that was read again only because its row was racy has not been written since.
        const unsynced = row.unsynced || !row.fingerprint || !isSameFingerprint(row.fingerprint, fingerprint);
        const unconfirmed = unconfirmedAfter(row, fingerprint, this.#wallMs);
        this.#changes.record({ path, entry: { dot, content, fingerprint, racy, unsynced, unconfirmed } });
        return;
      }
      case 'still-damaged': {
        if (row === undefined) return;
        const { fingerprint } = change;
        const unconfirmed = unconfirmedAfter(row, fingerprint, this.#wallMs);
        this.#changes.record({ path, entry: { ...row, fingerprint, racy, unconfirmed } });
        return;
      }
      case 'forget':
        this.#changes.record({ path, entry: undefined });
        return;
      case 'adopt':
        this.#changes.record(
          entryFor(path, change.head, change.fingerprint, change.racy, this.#marks(change.fingerprint)),
        );
        return;
      case 'adopt-attributes':
        return this.#adoptAttributes(path, change.head, change.fingerprint, racy);
      case 'draft': {
        const { draft } = change;
        const { kind, fingerprint } = draft;
        const isNewlyTimed = kind === 'attr' && row && shown && head !== shown && fingerprint;
        const putBack = isNewlyTimed && (await findPutBack(this.#context, fingerprint, row, shown));
        this.#markOtherNames(draft);
        if (putBack) this.#removeCopies(putBack.removedCopies);
        this.#changes.addSingle(putBack ? { ...draft, kind: 'put', keeps: undefined } : draft);
        return;
      }
    }
  }

  /**
   * Drafts the deletes of conflict copies before the version that their user put back: a later delete of a copy means that its content is
   * no longer needed.
   */
  #removeCopies(copies: readonly DiskEntry[]): void {
    for (const { path, dot, content } of copies) {
      const operation = this.#context.journal.log.operation(dot);
      if (operation === undefined || this.#changes.has(path)) continue;
      this.#changes.add({ path, kind: 'delete', parents: [operation], replaced: content, vanished: true });
    }
  }

  /** The marks of a row for a user's change. */
  #marks(fingerprint: Fingerprint | undefined): RowMarks {
    return { unsynced: true, unconfirmed: fingerprint && unconfirmedAt(fingerprint, this.#wallMs) };
  }

  /** A write through one name of a hard link raises no event at the other names. */
  #markOtherNames({ path, fingerprint }: Draft): void {
    if (fingerprint === undefined || isDirectoryMode(fingerprint.mode)) return;
    for (const row of this.#context.journal.disk.withInode(fingerprint.ino)) {
      if (row.path !== path && row.fingerprint && mayBeSameInode(row.fingerprint, fingerprint))
        this.#on.changed(row.path);
    }
  }

  /** Whether the entry of the row outlives its replacement: its content is in history, or it has none. */
  async #isKept(row: DiskEntry | undefined): Promise<boolean> {
    if (row?.content === undefined) return true;
    return (await keptContents(this.#context, [row.content])).has(row.content);
  }

  async #adoptAttributes(
    path: string,
    head: Operation,
    expected: NonNullable<DiskEntry['fingerprint']>,
    racy: boolean,
  ): Promise<void> {
    const mode = head.mode ?? permissions(expected.mode);
    const mtimeUs = isDirectoryMode(expected.mode) ? undefined : head.mtimeUs;
    const [done] = await applyActions(this.#context, [{ action: { do: 'attr', path, expected, mode, mtimeUs } }]);
    if (done?.result === 'done' && done.fingerprint) {
      // A change between the observation and the call now has a time that the agent set.
      const { fingerprint } = done;
      this.#changes.record(entryFor(path, head, fingerprint, racy || (done.racy ?? false), this.#marks(fingerprint)));
    } else if (done?.result === 'problem') {
      // The file may belong to another user: an immediate retry would fail in the same way.
      this.#context.problems.set(done.code, { path }, done.detail);
      this.#on.failed(path);
    } else this.#on.changed(path);
  }
}

/** The draft of a new version equal to `shown`. */
function draftAgain(shown: Operation): Draft {
  const { path, content, size, mode, mtimeUs, target, blocks } = shown;
  const entry = { path, mtimeUs, parents: [shown], replaced: content };
  if (target !== undefined) return { ...entry, kind: 'symlink', target };
  return { ...entry, kind: 'put', content, size, mode, blocks };
}

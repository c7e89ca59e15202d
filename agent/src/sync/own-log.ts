import type { Operation } from '@lockstep/shared';
import { clockSkewMsMax } from '@lockstep/shared';
import type { DiskChange } from '../core/disk-entry.ts';
import { mergeStamp } from '../core/hlc.ts';
import type { Draft } from '../core/local-change.ts';
import { makeOperations } from '../core/make-operations.ts';
import type { Context } from './context.ts';

const groupsMax = 256;
const logRowsAtOnce = 1_000;
/** An unpacked archive is one group while its files keep coming. */
const groupIdleMs = 2_000;

/** Turns drafts into this member's own operations: numbers, stamps, journals them, and tells those who send them on. */
export class OwnLog {
  readonly #context: Context;
  readonly #committed: (operations: readonly Operation[]) => void;
  readonly #groups = new Map<string, { seq: number; lastMs: number }>();
  #lastStamp = 0;

  constructor(context: Context, committed: (operations: readonly Operation[]) => void) {
    this.#context = context;
    this.#committed = committed;
    const { journal } = context;
    const seq = journal.known()[journal.origin] ?? 0;
    this.#lastStamp = journal.operation({ origin: journal.origin, seq })?.hlc ?? 0;
  }

  /** Advances the clock by a stamp that another member gave. */
  sawStamp(hlc: number): void {
    const wallMs = this.#context.clock.wallMs();
    this.#lastStamp = mergeStamp({ last: this.#lastStamp, remote: hlc, wallMs, driftMsMax: clockSkewMsMax });
  }

  /**
   * Journals drafts as operations, and what the disk shows with them, in one transaction. A draft with a fingerprint, or of
   * what has vanished, is what this disk shows already; any other (a steward's) is yet to be materialised.
   */
  commit(drafts: readonly Draft[], rows: readonly DiskChange[] = []): readonly Operation[] {
    if (drafts.length === 0 && rows.length === 0) return [];
    const { journal, clock, outbox } = this.#context;
    const nowMs = clock.monotonicMs();
    const operations = journal.transaction(() => {
      const made = makeOperations(drafts, {
        origin: journal.origin,
        firstSeq: (journal.known()[journal.origin] ?? 0) + 1,
        lastStamp: this.#lastStamp,
        wallMs: clock.wallMs(),
        standing: (path) => journal.heads(path),
        ownAt: (path, after) => this.#ownAt(path, after),
        groupOf: (path) => this.#groups.get(path)?.seq,
      });
      journal.append(made.operations);
      const shown = drafts.flatMap((draft, index): DiskChange[] => {
        const operation = made.operations[index];
        if (operation === undefined || (draft.fingerprint === undefined && !draft.vanished)) return [];
        const { origin, seq, content } = operation;
        const { path, fingerprint, racy } = draft;
        return [{ path, entry: { dot: { origin, seq }, content: fingerprint && content, fingerprint, racy } }];
      });
      journal.recordDisk([...rows, ...shown]);
      this.#lastStamp = made.lastStamp;
      return made.operations;
    });
    drafts.forEach((draft, index) => {
      if (draft.bytes && draft.content) outbox.put(draft.content, draft.bytes);
      const group = operations[index]?.group;
      if (draft.groupPath !== undefined && group !== undefined) this.#touchGroup(draft.groupPath, group, nowMs);
    });
    this.#committed(operations);
    return operations;
  }

  /** The open group (an archive being unpacked) that a new entry at `path` belongs to, if any. */
  openGroup(ancestors: readonly string[]): string | undefined {
    const nowMs = this.#context.clock.monotonicMs();
    return ancestors.find((path) => {
      const group = this.#groups.get(path);
      return group !== undefined && nowMs - group.lastMs < groupIdleMs;
    });
  }

  #ownAt(path: string, after: number): readonly Operation[] {
    const { journal } = this.#context;
    const own: Operation[] = [];
    let beforeRow = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = journal.log({ path, beforeRow, limit: logRowsAtOnce });
      for (const { operation, row } of rows) {
        beforeRow = row;
        if (operation.origin === journal.origin && operation.seq > after) own.push(operation);
      }
      if (rows.length < logRowsAtOnce) return own;
    }
  }

  #touchGroup(path: string, seq: number, nowMs: number): void {
    this.#groups.delete(path);
    this.#groups.set(path, { seq, lastMs: nowMs });
    if (this.#groups.size <= groupsMax) return;
    for (const oldest of this.#groups.keys()) {
      this.#groups.delete(oldest);
      break;
    }
  }
}

import type { Operation, OriginId } from '@lockstep/shared';
import { clockSkewMsMax, memberOf } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';
import { unconfirmedAt } from '../../core/confirmation.ts';
import type { DiskChange } from '../../core/entry.ts';
import { mergeStamp } from '../../core/hlc.ts';
import type { Draft } from '../../core/local-change.ts';
import { makeOperations, type RefusedDraft, refusedDrafts } from '../../core/make-operations.ts';
import type { Context } from '../state/context.ts';
import type { OwnOrigin } from './own-origin.ts';

const groupsMax = 256;
const logRowsAtOnce = 1_000;
/** A group ends after this time without a new entry: an unpacked archive is one group. */
const groupIdleMs = 2_000;

/** A refusal is reported this long, unless the path is found in order or the draft is refused again before. */
const refusalLastsMs = 60_000;

/** The result of a commit. */
export interface Committed {
  readonly operations: readonly Operation[];
  /** Paths of drafts that no other member would accept: they were not journaled, and each is a problem. */
  readonly refused: readonly string[];
}

/** Makes operations of this member from drafts: numbers, stamps and journals them, and wakes the loops that send them. */
export class OperationWriter {
  readonly #context: Context;
  readonly #groups = new LRUCache<string, { seq: number; lastMs: number }>({ max: groupsMax });
  readonly #numbers: Pick<OwnOrigin, 'ensure'>;
  #groupsOf: OriginId | undefined;
  #lastStamp = 0;

  constructor(context: Context, numbers: Pick<OwnOrigin, 'ensure'>) {
    this.#context = context;
    this.#numbers = numbers;
    const { journal, self } = context;
    // Bounded like a stamp of another member: a stamp that lies years ahead must not carry all later ones there after a restart.
    for (const [origin, seq] of Object.entries(journal.log.known()) as [OriginId, number][]) {
      if (memberOf(origin) === self.id) this.sawStamp(journal.log.operation({ origin, seq })?.hlc ?? 0);
    }
  }

  /** Advances the hybrid logical clock to a stamp of another member. */
  sawStamp(hlc: number): void {
    const wallMs = this.#context.clock.wallMs();
    this.#lastStamp = mergeStamp({ last: this.#lastStamp, remote: hlc, wallMs, driftMsMax: clockSkewMsMax });
  }

  /**
   * Journals drafts as operations, and the resulting rows of `disk`, in one transaction. A draft with a fingerprint, or of a vanished
   * entry, is already on this disk; any other (a resolver's) is still to be applied. Drafts that other members would not accept are
   * skipped: each becomes a problem of its path.
   */
  commit(drafts: readonly Draft[], rows: readonly DiskChange[] = []): Committed {
    if (drafts.length === 0 && rows.length === 0) return { operations: [], refused: [] };
    const { journal, clock, sentBytesCache } = this.#context;
    const nowMs = clock.monotonicMs();
    const wallMs = clock.wallMs();
    if (drafts.length > 0) this.#numbers.ensure();
    if (journal.origin !== this.#groupsOf) {
      // The number of a group belongs to its origin.
      this.#groups.clear();
      this.#groupsOf = journal.origin;
    }
    const { accepted, operations, refused } = journal.transaction(() => {
      const made = this.#make(drafts);
      const { accepted, operations } = made;
      journal.append(operations);
      const shown = accepted.flatMap((draft, index): DiskChange[] => {
        const operation = operations[index];
        if (operation === undefined || (draft.fingerprint === undefined && !draft.vanished)) return [];
        const { origin, seq, content } = operation;
        const { path, fingerprint, racy } = draft;
        const unconfirmed = draft.unconfirmed ?? (fingerprint && unconfirmedAt(fingerprint, wallMs));
        const row = { dot: { origin, seq }, content: fingerprint && content, fingerprint, racy, unconfirmed };
        // A user made the change: only a sync makes it durable.
        return [{ path, entry: { ...row, unsynced: true } }];
      });
      journal.disk.record([...rows, ...shown]);
      this.#lastStamp = made.lastStamp;
      return made;
    });
    for (const refusal of refused) this.#report(refusal);
    accepted.forEach((draft, index) => {
      if (draft.bytes && draft.content) sentBytesCache.put(draft.content, draft.bytes);
      const group = operations[index]?.group;
      if (draft.groupPath !== undefined && group !== undefined) this.#touchGroup(draft.groupPath, group, nowMs);
    });
    this.#context.facts.made.publish(operations);
    return { operations, refused: refused.map(({ draft }) => draft.path) };
  }

  /** Makes operations of all sendable drafts. Numbers have no gaps, so after a refusal the others are made again. */
  #make(drafts: readonly Draft[]): {
    readonly accepted: readonly Draft[];
    readonly operations: readonly Operation[];
    readonly refused: readonly RefusedDraft[];
    readonly lastStamp: number;
  } {
    const { journal, clock } = this.#context;
    let accepted = drafts;
    const refused: RefusedDraft[] = [];
    for (;;) {
      const made = makeOperations(accepted, {
        origin: journal.origin,
        firstSeq: (journal.log.known()[journal.origin] ?? 0) + 1,
        lastStamp: this.#lastStamp,
        wallMs: clock.wallMs(),
        headsAt: (path) => journal.heads.at(path),
        ownAt: (path, after) => this.#ownAt(path, after),
        markOf: ({ origin, seq }) =>
          seq <= (journal.log.known()[origin] ?? 0) ? journal.log.mark(origin, seq) : undefined,
        groupOf: (path) => this.#groups.get(path)?.seq,
      });
      const unsendable = refusedDrafts(accepted, made.operations);
      if (unsendable.length === 0) return { accepted, refused, ...made };
      for (const each of unsendable) refused.push(each);
      const left = new Set(unsendable.map(({ draft }) => draft));
      accepted = accepted.filter((draft) => !left.has(draft));
    }
  }

  #report({ draft: { path }, fault: { field, what } }: RefusedDraft): void {
    const detail =
      `A change of ${path} cannot be sent to the other members: its ${field} ${what}. They keep their version; rename the ` +
      'entry to have it sent under its new name.';
    this.#context.problems.set('path-unsendable', { path }, detail, refusalLastsMs);
  }

  /**
   * Journals entries again as operations of this member. They replace `operations`, which were cut off the log of their origin, and keep
   * their stamps, because they are not newer. If this disk shows a replaced operation, the new one counts as shown.
   */
  repeat(operations: readonly Operation[]): void {
    // A commit may contain each path only once.
    let left = operations;
    while (left.length > 0) {
      const paths = new Set<string>();
      const later: Operation[] = [];
      const now = left.filter((operation) => {
        if (!paths.has(operation.path)) return paths.add(operation.path);
        later.push(operation);
        return false;
      });
      this.commit(now.map((operation) => this.#draftOf(operation)));
      left = later;
    }
  }

  #draftOf(operation: Operation): Draft {
    const { path, kind, content, replaced, size, mode, mtimeUs, target, from, blocks, member, keeps, hlc } = operation;
    const entry = { path, kind, content, replaced, size, mode, mtimeUs, target, from, blocks, member, keeps, hlc };
    const row = this.#context.journal.disk.at(path);
    const isShown = row?.dot.origin === operation.origin && row.dot.seq === operation.seq && !row.damaged;
    const { fingerprint, racy, unconfirmed } = isShown ? row : {};
    const vanished = isShown && fingerprint === undefined && kind === 'delete';
    return { ...entry, parents: [operation], fingerprint, racy, unconfirmed, vanished };
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
      const rows = journal.log.rows({ path, beforeRow, limit: logRowsAtOnce });
      for (const { operation, row } of rows) {
        beforeRow = row;
        if (operation.origin === journal.origin && operation.seq > after) own.push(operation);
      }
      if (rows.length < logRowsAtOnce) return own;
    }
  }

  #touchGroup(path: string, seq: number, nowMs: number): void {
    this.#groups.set(path, { seq, lastMs: nowMs });
  }
}

import { dotKey, parentOf } from '@lockstep/shared';
import type { DiskChange } from '../../core/entry.ts';
import type { Draft } from '../../core/local-change.ts';
import { supersedes } from '../../core/version.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Context } from '../state/context.ts';

/** True if the two are the halves of the rename of one file: killed between them, an agent would leave it at both names. */
function isRename(before: Draft, draft: Draft): boolean {
  return draft.kind === 'delete' && draft.path === before.from;
}

/** The drafts of operations and the rows of `disk` that one detection journals: in one transaction, unless they are very many. */
export class ChangeBatch {
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  readonly #created: Draft[] = [];
  readonly #deleted: Draft[] = [];
  readonly #rows: DiskChange[] = [];
  readonly #drafted = new Set<string>();
  /** Directories of this batch that opened a group. */
  readonly #opened = new Set<string>();

  constructor(context: Context, operationWriter: OperationWriter) {
    this.#context = context;
    this.#operationWriter = operationWriter;
  }

  /** True if the batch has a draft of this path. */
  has(path: string): boolean {
    return this.#drafted.has(path);
  }

  /** Adds a draft that keeps its position in the batch, as those of a rename must. */
  add(draft: Draft): void {
    this.#drafted.add(draft.path);
    this.#created.push(draft);
  }

  /** Adds a draft of one path. Deletes go last; other drafts join the group of a new directory above them. */
  addSingle(draft: Draft): void {
    if (draft.kind !== 'delete') {
      this.add({ ...draft, groupPath: this.#groupPath(draft) });
      return;
    }
    this.#drafted.add(draft.path);
    this.#deleted.push(draft);
  }

  record(change: DiskChange): void {
    this.#rows.push(change);
  }

  /**
   * Journals the batch: drafts in their order, then deletes, children first. A batch of many drafts takes several transactions, and other
   * tasks run between them. `refused`: paths whose operations no other member would accept.
   */
  async commit(): Promise<{ readonly drafts: readonly Draft[]; readonly refused: ReadonlySet<string> }> {
    this.#deleteMissing();
    this.#deleted.sort((a, b) => (a.path < b.path ? 1 : -1));
    const drafts = [...this.#created, ...this.#deleted];
    const refused = new Set<string>();
    let rows: readonly DiskChange[] = this.#rows;
    for await (const part of this.#context.splitter.split(drafts, isRename)) {
      const complete = part.map((draft) => this.#withMissing(draft));
      this.#noteReplaced(complete);
      for (const path of this.#operationWriter.commit(complete, rows).refused) refused.add(path);
      rows = [];
    }
    return { drafts, refused };
  }

  /** Notes the rows of entries that users replaced: another detection may find these entries at other paths. */
  #noteReplaced(drafts: readonly Draft[]): void {
    const { journal, replacedRows } = this.#context;
    for (const { path, fingerprint, parents } of drafts) {
      // A new file replaces nothing, and thousands may come at once.
      const row = fingerprint === undefined || parents.length === 0 ? undefined : journal.disk.at(path);
      if (row !== undefined && fingerprint !== undefined) replacedRows.add(row, fingerprint);
    }
  }

  /**
   * Adds operations with a reported missing content to the parents: the author of the draft knew of them. If the disk shows an entry,
   * only operations that replace it are added: its damage, or a sibling of its operation, does not justify giving them up.
   */
  #withMissing(draft: Draft): Draft {
    const { journal, missing } = this.#context;
    if (draft.kind === 'attr' || missing.isEmpty) return draft;
    const row = journal.disk.at(draft.path);
    if (row?.damaged) return draft;
    const shown = row?.fingerprint && journal.log.operation(row.dot);
    const known = new Set(draft.parents.map(dotKey));
    const lost = journal.heads
      .at(draft.path)
      .filter((head) => missing.isReported(head) && !known.has(dotKey(head)) && (!shown || supersedes(head, shown)));
    return lost.length === 0 ? draft : { ...draft, parents: [...draft.parents, ...lost] };
  }

  /** Deletes entries with a reported missing content along with their directory: users cannot remove them, and they would resurrect it. */
  #deleteMissing(): void {
    const { journal, missing } = this.#context;
    for (const { path: directory } of [...this.#deleted]) {
      for (const operation of missing.reportedBelow(directory)) {
        if (!journal.heads.has(operation) || this.#drafted.has(operation.path)) continue;
        this.#drafted.add(operation.path);
        this.#deleted.push({ path: operation.path, kind: 'delete', parents: [operation], vanished: true });
      }
    }
  }

  /** The group of a draft. A new directory opens a group, which entries made in it soon after join: people see an unpacked archive as one line. */
  #groupPath(draft: Draft): string | undefined {
    const ancestors: string[] = [];
    for (let parent = parentOf(draft.path); parent !== ''; parent = parentOf(parent)) ancestors.push(parent);
    const open = ancestors.findLast((path) => this.#opened.has(path)) ?? this.#operationWriter.openGroup(ancestors);
    if (open !== undefined) return open;
    if (draft.kind !== 'mkdir' || draft.parents.length > 0) return undefined;
    this.#opened.add(draft.path);
    return draft.path;
  }
}

import { dotKey, parentOf } from '@lockstep/shared';
import type { DiskChange } from '../../core/entry.ts';
import type { Draft } from '../../core/local-change.ts';
import { supersedes } from '../../core/version.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Context } from '../state/context.ts';

/** What one look journals: operations yet to be made, and rows of `disk`, in one transaction. */
export class ChangeBatch {
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  readonly #created: Draft[] = [];
  readonly #deleted: Draft[] = [];
  readonly #rows: DiskChange[] = [];
  readonly #drafted = new Set<string>();
  /** Directories of this batch that began a group. */
  readonly #opened = new Set<string>();

  constructor(context: Context, operationWriter: OperationWriter) {
    this.#context = context;
    this.#operationWriter = operationWriter;
  }

  /** True where there is a draft of this path. */
  has(path: string): boolean {
    return this.#drafted.has(path);
  }

  /** Adds a draft that keeps its place among the others, as those of a rename do. */
  add(draft: Draft): void {
    this.#drafted.add(draft.path);
    this.#created.push(draft);
  }

  /** Adds a draft of one path: a delete after all that stands, anything else to the group of a directory above it that was just made. */
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

  /** Journals everything: what stands, in the order of the drafts, then what is gone, children first. `refused`: paths that no other member would accept. */
  commit(): { readonly drafts: readonly Draft[]; readonly refused: ReadonlySet<string> } {
    this.#deleteMissing();
    this.#deleted.sort((a, b) => (a.path < b.path ? 1 : -1));
    const drafts = [...this.#created, ...this.#deleted].map((draft) => this.#withMissing(draft));
    return { drafts, refused: new Set(this.#operationWriter.commit(drafts, this.#rows).refused) };
  }

  /**
   * What is written or deleted where a content is told to be missing also replaces the operation that has none: its author knew. Where
   * something stands, only what it was to be replaced by: damage of that operation, or a sibling of it, is no reason to give it up.
   */
  #withMissing(draft: Draft): Draft {
    const { journal, missing } = this.#context;
    if (draft.kind === 'attr' || missing.isEmpty) return draft;
    const row = journal.disk(draft.path);
    if (row?.damaged) return draft;
    const shown = row?.fingerprint && journal.operation(row.dot);
    const known = new Set(draft.parents.map(dotKey));
    const lost = journal
      .heads(draft.path)
      .filter((head) => missing.isTold(head) && !known.has(dotKey(head)) && (!shown || supersedes(head, shown)));
    return lost.length === 0 ? draft : { ...draft, parents: [...draft.parents, ...lost] };
  }

  /** With a directory go the entries in it whose content is told to be missing: nobody can remove them, and they would raise it again. */
  #deleteMissing(): void {
    const { journal, missing } = this.#context;
    for (const { path: directory } of [...this.#deleted]) {
      for (const operation of missing.toldBelow(directory)) {
        const isHead = journal.heads(operation.path).some((head) => dotKey(head) === dotKey(operation));
        if (!isHead || this.#drafted.has(operation.path)) continue;
        this.#drafted.add(operation.path);
        this.#deleted.push({ path: operation.path, kind: 'delete', parents: [operation], vanished: true });
      }
    }
  }

  /** A new directory opens a group, and what comes into it soon belongs to that group: an unpacked archive is one line to people. */
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

import type { ContentId, Operation } from '@lockstep/shared';
import type { ContentSource } from '../core/action.ts';
import type { DiskEntry, PendingPath } from '../core/disk-entry.ts';
import type { PlanView } from '../core/plan-step.ts';
import type { Context } from './context.ts';

/** What a plan may know: the journal, and where content lies on this member. Valid while the folder lock is held. */
export class JournalView implements PlanView {
  readonly #context: Context;
  readonly #staged: (content: ContentId) => boolean;
  readonly #history: ReadonlySet<ContentId>;

  private constructor(context: Context, staged: (content: ContentId) => boolean, history: ReadonlySet<ContentId>) {
    this.#context = context;
    this.#staged = staged;
    this.#history = history;
  }

  static async open(
    context: Context,
    rows: readonly PendingPath[],
    staged: (content: ContentId) => boolean,
  ): Promise<JournalView> {
    const empty = new JournalView(context, staged, new Set());
    const elsewhere = new Set<ContentId>();
    for (const { heads } of rows) {
      const content = heads[0]?.content;
      if (content !== undefined && empty.localSource(content) === undefined) elsewhere.add(content);
    }
    if (elsewhere.size === 0) return empty;
    return new JournalView(context, staged, await context.folder.inHistory([...elsewhere]));
  }

  head(path: string): Operation | undefined {
    return this.#context.journal.heads(path)[0];
  }

  disk(path: string): DiskEntry | undefined {
    return this.#context.journal.disk(path);
  }

  shown(entry: DiskEntry): Operation | undefined {
    return this.#context.journal.operation(entry.dot);
  }

  hasLiveBelow(directory: string): boolean {
    return this.#context.journal.hasLiveBelow(directory);
  }

  diskBelow(directory: string): readonly DiskEntry[] {
    return this.#context.journal.diskBelow(directory, undefined, Number.MAX_SAFE_INTEGER);
  }

  localSource(content: ContentId): ContentSource | undefined {
    const bytes = this.#context.inbox.get(content);
    if (bytes) return { from: 'bytes', bytes };
    if (this.#staged(content)) return { from: 'staged' };
    for (const { path, fingerprint, racy } of this.#context.journal.diskWithContent(content, 2)) {
      if (fingerprint && !racy) return { from: 'file', path, fingerprint };
    }
    return this.#history.has(content) ? { from: 'history' } : undefined;
  }

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#context.ignored.ignores(path, isDirectory);
  }
}

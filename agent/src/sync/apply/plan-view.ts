import type { ContentId, Operation } from '@lockstep/shared';
import type { DiskEntry, PendingPath } from '../../core/entry.ts';
import type { ContentSource } from '../../core/plan/action.ts';
import type { PlanView } from '../../core/plan/plan-step.ts';
import { keptContents } from '../contents/kept-contents.ts';
import type { Context } from '../state/context.ts';
import { hiddenPaths, isBelowMount, sourcesHere } from '../transfer/local-content.ts';

/** Questions of the planner that the journal cannot answer. */
export interface PlanChecks {
  /** True if the content is staged completely. */
  readonly isStaged: (content: ContentId) => boolean;
  /** True if the rename of a directory can move it with all its entries. */
  readonly movesWhole: (operation: Operation) => boolean;
}

/** The planner's view of the journal and of the contents on this member. Valid while the folder lock is held. */
export class JournalPlanView implements PlanView {
  readonly #context: Context;
  readonly #checks: PlanChecks;
  readonly #history: ReadonlySet<ContentId>;
  /** Mount points that hide files of this member. */
  readonly #mounts: readonly string[];
  /** Those of the copies that the plan puts into the folder. */
  #takenBytes = 0;

  private constructor(context: Context, checks: PlanChecks, history: ReadonlySet<ContentId>) {
    this.#context = context;
    this.#checks = checks;
    this.#history = history;
    this.#mounts = hiddenPaths(context.problems);
  }

  /** Opens a view for planning `rows`: looks up which of their contents are in history. */
  static async open(context: Context, rows: readonly PendingPath[], checks: PlanChecks): Promise<JournalPlanView> {
    const empty = new JournalPlanView(context, checks, new Set());
    const elsewhere = new Set<ContentId>();
    for (const { heads } of rows) {
      const content = heads[0]?.content;
      if (content !== undefined && empty.localSource(content) === undefined) elsewhere.add(content);
    }
    if (elsewhere.size === 0) return empty;
    return new JournalPlanView(context, checks, await keptContents(context, [...elsewhere]));
  }

  head(path: string): Operation | undefined {
    return this.#context.journal.heads.at(path)[0];
  }

  disk(path: string): DiskEntry | undefined {
    return this.#context.journal.disk.at(path);
  }

  shown(entry: DiskEntry): Operation | undefined {
    return this.#context.journal.log.operation(entry.dot);
  }

  hasLiveBelow(directory: string): boolean {
    return this.#context.journal.heads.hasLiveBelow(directory);
  }

  diskBelow(directory: string): readonly DiskEntry[] {
    return this.#context.journal.disk.below(directory, undefined, Number.MAX_SAFE_INTEGER);
  }

  hasDiskBelow(directory: string): boolean {
    return this.#context.journal.disk.below(directory, undefined, 1).length > 0;
  }

  movesWhole(operation: Operation): boolean {
    return this.#checks.movesWhole(operation);
  }

  localSource(content: ContentId): ContentSource | undefined {
    const staged = (): boolean => this.#checks.isStaged(content);
    const history = (): boolean => this.#history.has(content);
    const [first] = sourcesHere(this.#context, content, ['received', 'staged', 'folder', 'history'], {
      staged,
      history,
    });
    return first;
  }

  isHidden(content: ContentId): boolean {
    return this.#mounts.length > 0 && isBelowMount(this.#context.journal, content, this.#mounts);
  }

  ignores(path: string, isDirectory: boolean): boolean {
    return this.#context.ignored.ignores(path, isDirectory);
  }

  isWanted(path: string): boolean {
    return this.#context.wanted.isWanted(path);
  }

  takes({ path, size = 0 }: Operation): boolean {
    const { wanted } = this.#context;
    if (!wanted.isPlaced(path) || !wanted.hasRoom(this.#takenBytes + size)) return false;
    this.#takenBytes += size;
    return true;
  }
}

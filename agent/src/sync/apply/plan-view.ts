import { batchPathsMax, type ContentId, type Operation } from '@lockstep/shared';
import { isAtOrBefore } from '../../core/cache/path-order.ts';
import type { DiskEntry, PendingPath } from '../../core/entry.ts';
import type { ContentSource } from '../../core/plan/action.ts';
import type { MovedEntry, PlanView } from '../../core/plan/plan-step.ts';
import { keptContents } from '../contents/kept-contents.ts';
import type { Journal } from '../ports/journal.ts';
import { Yielder } from '../scheduling/yielder.ts';
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
  /** The entries of large directories that are renamed, by `renameKey`. */
  readonly #moved = new Map<string, readonly MovedEntry[]>();

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
    const view =
      elsewhere.size === 0 ? empty : new JournalPlanView(context, checks, await keptContents(context, [...elsewhere]));
    for (const { heads } of rows) if (heads[0] !== undefined) await view.#readMoved(heads[0]);
    return view;
  }

  /** Reads the entries of a large directory that is renamed. Other tasks run meanwhile, which they cannot while a plan is made. */
  async #readMoved(rename: Operation): Promise<void> {
    const { journal, clock, splitter } = this.#context;
    const { path, from, span = 0 } = rename;
    if (from === undefined || !splitter.isLarge(span) || !this.movesWhole(rename)) return;
    if (this.disk(path)?.fingerprint !== undefined) return;
    const yielder = new Yielder(clock);
    const moved: MovedEntry[] = [];
    for (const page of movedPages(journal, from, path)) {
      for (const entry of page) moved.push(entry);
      await yielder.maybeYield();
    }
    this.#moved.set(renameKey(from, path), moved);
  }

  /** Forgets what was read ahead: the journal has received operations since. */
  readAgain(): void {
    this.#moved.clear();
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

  moved(from: string, path: string): readonly MovedEntry[] {
    return this.#moved.get(renameKey(from, path)) ?? [...movedPages(this.#context.journal, from, path)].flat();
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

function renameKey(from: string, path: string): string {
  return `${from}\0${path}`;
}

/** The entries that the rename of a directory moves, in pages. */
function* movedPages(journal: Journal, from: string, path: string): IterableIterator<readonly MovedEntry[]> {
  const isFree = journal.disk.below(path, undefined, 1).length === 0;
  const target = (old: string): string => path + old.slice(from.length);
  for (let after: string | undefined; ; ) {
    const rows = journal.disk.below(from, after, batchPathsMax);
    const last = rows.at(-1)?.path;
    if (last === undefined) return;
    const before = visibleHeads(journal, { directory: from, after, last });
    const now = visibleHeads(journal, { directory: path, after: after && target(after), last: target(last) });
    const page = rows.map((row): MovedEntry => {
      const isInTheWay = !isFree && journal.disk.at(target(row.path))?.fingerprint !== undefined;
      return { row, before: before.get(row.path), after: now.get(target(row.path)), isInTheWay };
    });
    yield page;
    if (rows.length < batchPathsMax) return;
    after = last;
  }
}

/** The visible heads in a directory after the path `after` up to `last`, by path. One query for many: single ones take five times as long. */
function visibleHeads(
  journal: Journal,
  range: { readonly directory: string; readonly after: string | undefined; readonly last: string },
): ReadonlyMap<string, Operation> {
  const found = new Map<string, Operation>();
  for (let { after } = range; ; ) {
    const heads = journal.heads.under(range.directory, after, batchPathsMax);
    for (const head of heads) found.set(head.path, head);
    after = heads.at(-1)?.path;
    if (after === undefined || heads.length < batchPathsMax || isAtOrBefore(range.last, after)) return found;
  }
}

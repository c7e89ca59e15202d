import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Applied,
  entryType,
  isLive,
  isStatePath,
  joinPath,
  memberOf,
  nameOf,
  type Operation,
  stateDirectoryName,
} from '@lockstep/shared';
import type { SearchQuery, SearchResult, TreeEntry, TreePage, TreeQuery } from '@lockstep/shared/api';
import { copiesPrefix, isConflictPath, originalPath } from '../../../core/conflict-name.ts';
import { holds } from '../../../core/durability.ts';
import { stampMs } from '../../../core/hlc.ts';
import type { Engine } from '../../../sync/engine.ts';
import type { TreeTable } from '../../../sync/ports/head-tables.ts';
import { shownBy } from '../shown-by.ts';

/** Paths that a search reads before other work has its turn: a few milliseconds. */
const pathsAtOnce = 20_000;

/** The longest time of a search; the answer is what was found by then. */
const searchMs = 2_000;

/** The most copies read to find those of one path: copies of neighbours that differ only in the extension have the same prefix. */
const copiesMax = 100;

/** The paths that one page reads for the sizes of its directories: some ten milliseconds. */
const sizedPathsMax = 20_000;

interface Holder {
  readonly id: string;
  readonly applied: Applied;
  /** It has the contents of some files only. */
  readonly isOnDemand: boolean;
}

/** Describes entries of the tree. Each request has its own instance, because it caches the members' applied vectors. */
export class EntryReporter {
  readonly #engine: Engine;
  readonly #holders: readonly Holder[];
  readonly #contested: boolean;

  constructor(engine: Engine) {
    const { journal, self } = engine.context;
    this.#engine = engine;
    const others = engine.peers.all().filter(({ state }) => state !== 'left');
    this.#holders = [{ id: self.id, saidApplied: journal.applied() }, ...others].map(({ id, saidApplied }) => ({
      id,
      applied: shownBy(engine, id, saidApplied),
      isOnDemand: id === self.id ? self.onDemand === true : engine.peers.isOnDemand(id),
    }));
    this.#contested = journal.totals.counts().contested > 0;
  }

  /** The number of members that have not left and have the whole folder. */
  get members(): number {
    return this.#holders.filter(({ isOnDemand }) => !isOnDemand).length;
  }

  /** Reports an entry; `operation` must be a live visible head. */
  report(operation: Operation): TreeEntry {
    const { path, origin, seq, size, mtimeUs, target } = operation;
    const { journal, self } = this.#engine.context;
    const heads = this.#contested ? journal.heads.at(path) : [operation];
    // Of a file, members on demand say that they show it, not that they have it.
    const holders = this.#holders.filter(({ isOnDemand }) => !isOnDemand || operation.content === undefined);
    const lacks = ({ applied }: Holder): boolean => !heads.every((head) => holds(applied, head));
    const missing = holders.filter(lacks).map(({ id }) => id);
    const writer = memberOf(origin);
    return {
      path,
      name: nameOf(path),
      type: treeType(operation),
      size,
      mtimeMs: mtimeUs === undefined ? undefined : Math.round(mtimeUs / 1_000),
      target,
      origin,
      seq,
      writer,
      writerName: this.#engine.peers.nameOf(writer),
      at: stampMs(operation.hlc),
      holding: holders.length - missing.length,
      missing,
      // Directories never lose, so they have no copies.
      conflict:
        heads.length > 1 ||
        isConflictPath(path) ||
        (treeType(operation) !== 'directory' && conflictCopies(journal.tree, path).length > 0),
      pending: this.#holders.some((holder) => holder.id === self.id && lacks(holder)),
    };
  }
}

/** The paths of the conflict copies of the entry at `path`. */
export function conflictCopies(tree: TreeTable, path: string): readonly string[] {
  return tree
    .liveWithPrefix(copiesPrefix(path), copiesMax)
    .map((copy) => copy.path)
    .filter((copy) => isConflictPath(copy) && originalPath(copy) === path);
}

/** One page of the entries of a directory. State directories of other members are never shown [WT7]. */
export function readTree(engine: Engine, { path, after, limit }: TreeQuery): TreePage {
  const { journal } = engine.context;
  const reporter = new EntryReporter(engine);
  const from = after === undefined ? undefined : joinPath(path, after);
  const children = journal.tree.liveChildren(path, from, limit + 1);
  const page = children.slice(0, limit);
  const last = children.length > limit ? page.at(-1) : undefined;
  const [state] = journal.heads.at(joinPath(path, stateDirectoryName));
  return {
    path,
    entries: withSizes(
      journal.tree,
      page.filter((child) => !isStatePath(child.path)).map((child) => reporter.report(child)),
    ),
    total: journal.tree.liveChildCount(path) - Number(state !== undefined && isLive(state)),
    next: last === undefined ? null : nameOf(last.path),
    members: reporter.members,
  };
}

/** Adds the sizes of directories. They share the paths that may be read; a share that is not needed is left to the others. */
function withSizes(tree: TreeTable, entries: readonly TreeEntry[]): readonly TreeEntry[] {
  let directories = entries.filter(({ type }) => type === 'directory').length;
  let pathsLeft = sizedPathsMax;
  return entries.map((entry) => {
    if (entry.type !== 'directory') return entry;
    const pathsMax = Math.floor(pathsLeft / directories);
    directories--;
    const { bytes, paths } = tree.sumBelow(entry.path, pathsMax);
    pathsLeft -= paths;
    return { ...entry, size: bytes, sizePartial: paths === pathsMax || undefined };
  });
}

/** The entries whose name contains a text. Other work runs between the slices. */
export async function searchTree(
  engine: Engine,
  { name, limit }: SearchQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  const { journal, clock } = engine.context;
  const untilMs = clock.monotonicMs() + searchMs;
  const found: Operation[] = [];
  let after: string | undefined;
  do {
    // One more than the limit shows whether there are more.
    const slice = journal.tree.search(name, after, { limit: limit + 1 - found.length, pathsMax: pathsAtOnce });
    found.push(...slice.found.filter(({ path }) => !isStatePath(path)));
    after = slice.next;
    await nextTurn();
  } while (after !== undefined && found.length <= limit && clock.monotonicMs() < untilMs && !signal.aborted);
  const reporter = new EntryReporter(engine);
  return {
    entries: found.slice(0, limit).map((operation) => reporter.report(operation)),
    more: after !== undefined || found.length > limit,
    members: reporter.members,
  };
}

function treeType(operation: Operation): TreeEntry['type'] {
  const type = entryType(operation);
  return type === 'directory' || type === 'symlink' ? type : 'file';
}

import type { ContentId } from '@lockstep/shared';
import { formatItems } from '@lockstep/shared/present';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ContentSearch } from '../transfer/content-search.ts';
import type { Blocking } from './blocking.ts';

/** Files that the others are asked about at a time. */
const filesAtOnce = 256;

interface File {
  readonly path: string;
  readonly content: ContentId;
}

/** On how many members a content must be. */
export interface Copies {
  /** The members with the whole folder that have all of it. */
  readonly full: number;
  wantedOf(path: string): number;
}

/**
 * Counts on how many members the files at and below a path are. Those that fetch contents on demand are asked, because they acknowledge a file
 * that they do not have. Files that are on enough members are not asked for again.
 */
export class CopyCount {
  readonly #context: Context;
  readonly #peers: Pick<Peers, 'isOnDemand'>;
  readonly #search: Pick<ContentSearch, 'searchKeepers'>;
  readonly #path: string;
  readonly #copies: Copies;
  /** All files up to this path have enough copies. */
  #upTo: string | undefined;
  #open: readonly string[] = [];
  /** Files that have enough copies only with that on this disk, which may be dropped before the count ends. */
  readonly #neededHere = new Map<string, ContentId>();
  #isDone = false;

  constructor(
    parts: {
      readonly context: Context;
      readonly peers: Pick<Peers, 'isOnDemand'>;
      readonly search: Pick<ContentSearch, 'searchKeepers'>;
    },
    path: string,
    copies: Copies,
  ) {
    this.#context = parts.context;
    this.#peers = parts.peers;
    this.#search = parts.search;
    this.#path = path;
    this.#copies = copies;
  }

  /** The members with the whole folder that were counted. */
  get full(): number {
    return this.#copies.full;
  }

  get isDone(): boolean {
    return this.#isDone && this.#open.length === 0;
  }

  /** Asks about the next files. Resolves with what is in the way, as far as is known: empty once all files have enough copies. */
  async ask(): Promise<readonly Blocking[]> {
    const { journal } = this.#context;
    let paths = this.#open;
    if (paths.length === 0) {
      const heads = journal.heads.under(this.#path, this.#upTo, filesAtOnce);
      this.#isDone = heads.length < filesAtOnce;
      this.#upTo = heads.at(-1)?.path ?? this.#upTo;
      paths = [...new Set(heads.map(({ path }) => path))];
    }
    const files = paths.flatMap((path) => this.#file(path) ?? []);
    const keepers = await this.#search.searchKeepers(files);
    const short: (Blocking & { readonly path: string })[] = [];
    for (const { path, content } of files) {
      const others = (keepers.get(path) ?? []).filter((id) => this.#peers.isOnDemand(id)).length;
      const isHere = this.#isHere(path, content);
      const count = this.#copies.full + others + (isHere ? 1 : 0);
      const wanted = this.#copies.wantedOf(path);
      if (count < wanted) short.push({ path, reason: shortReason(count, wanted, isHere) });
      else if (isHere && count === wanted) this.#neededHere.set(path, content);
    }
    this.#open = short.map(({ path }) => path);
    if (this.isDone) this.#open = this.#takeDropped();
    return short;
  }

  /** The files that were counted with the copy on this disk, and are no longer on it. */
  #takeDropped(): readonly string[] {
    const dropped = [...this.#neededHere].flatMap(([path, content]) => (this.#isHere(path, content) ? [] : [path]));
    for (const path of dropped) this.#neededHere.delete(path);
    return dropped;
  }

  #file(path: string): File | undefined {
    const [head] = this.#context.journal.heads.at(path);
    if (head?.content === undefined || (head.size ?? 0) === 0) return undefined;
    return this.#copies.wantedOf(path) > this.#copies.full ? { path, content: head.content } : undefined;
  }

  #isHere(path: string, content: ContentId): boolean {
    const { self, journal, wanted } = this.#context;
    const row = journal.disk.at(path);
    const isShown = row?.fingerprint !== undefined && row.content === content;
    return self.onDemand === true && isShown && row.unsynced !== true && !wanted.dropping.has(path);
  }
}

function shortReason(count: number, wanted: number, isHere: boolean): string {
  if (count === 0) return `No member that answers has it, and it is to be on ${wanted}.`;
  return isHere && count === 1
    ? `Only this member has it, and it is to be on ${wanted}. Rules have more members keep it: see lockstep copies.`
    : `It is on ${formatItems(count, 'member')}, and is to be on ${wanted}.`;
}

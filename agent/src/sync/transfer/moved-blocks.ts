import type { ContentId, Operation } from '@lockstep/shared';
import { blockBytes } from '@lockstep/shared';
import { blockRange } from '../../core/blocks.ts';
import { fetchedBytes, longestFetched, type Part, partsOf } from '../../core/chunks/assembly.ts';
import { type Chunk, chunksOf } from '../../core/chunks/recipe.ts';
import type { Arrivals } from '../../core/traffic/arrivals.ts';
import type { PieceRequests, PieceSource } from '../exchange/piece-requests.ts';
import type { BlockCopy, StageFailure } from '../ports/folder.ts';
import type { Piece } from '../ports/pieces.ts';
import type { Context } from '../state/context.ts';
import { OldChunks } from './old-chunks.ts';

/** The most blocks that are joined from pieces in one job of a worker: about 20 ms, because other jobs wait for it. */
const joinedAtOnce = 16;

/** Recipes that are requested at once: a few round trips in one, and a few MiB in memory. */
const recipesMax = 8;

/** The length from which unmatched bytes of a block are searched elsewhere, because they may have moved. Shorter ones count as new. */
const soughtBytesMin = 131_072;

/** Bytes of the old version that are searched for each group of recipes: a tenth of a second. */
const searchedBytesMax = 64 * 1_048_576;

/** The bytes that are searched for one content: a fixed number, and a number for each byte that was found. */
const searchedBytesFree = 256 * 1_048_576;
const searchedPerFound = 16;

/** A block of which a larger part is new is fetched whole: that saves a round trip. */
const fetchedShareMax = 0.75;

/** The most blocks that are fetched whole after recipes without a match. Their number doubles each time. */
const skippedMax = 64;

/** A fetch whose blocks are joined from pieces. */
export interface JoinedFetch {
  readonly operation: Operation;
  readonly content: ContentId;
  readonly size: number;
  readonly todo: { again(index: number): void };
  readonly arrivals: Arrivals;
  readonly isUnneeded: boolean;
  staged: number;
  failure: StageFailure | undefined;
}

/** The blocks of a content that may have moved. */
export interface MovedBlocks {
  /** The indices of the blocks that are not here as they are. */
  readonly missing: readonly number[];
  /** The file that holds the old version, and the numbers of its parts that may have moved: see `OldChunks`. */
  readonly old: { readonly path: string; readonly size: number; readonly parts: Iterable<number> };
}

export interface JoinerCalls {
  /** The member to ask; undefined if none has the content. */
  source(): PieceSource | undefined;
  /** Blocks were staged, or are to be requested whole. */
  proceed(): void;
  /** The source sent invalid data. */
  corrupt(source: PieceSource): void;
}

/** A block whose recipe came. */
interface Described {
  readonly index: number;
  readonly offset: number;
  readonly size: number;
  readonly recipe: Uint8Array;
  readonly chunks: readonly Chunk[];
}

/**
 * Stages the blocks of one content whose bytes moved: joins each from pieces of the old version and ranges that are fetched. Bytes that follow
 * each other in one version mostly do in the other one too. So a block is first sought as far from its place as the bytes before it were.
 * The source is asked only about a block that is not there.
 */
export class Joiner {
  readonly #context: Context;
  readonly #requests: PieceRequests;
  readonly #fetch: JoinedFetch;
  readonly #calls: JoinerCalls;
  readonly #moved: MovedBlocks;
  readonly #old: OldChunks;
  /** The source that had no recipe. */
  #silent: PieceSource | undefined;
  /** The distance of the last found bytes from their place in the new content. */
  #shift = 0;
  /** Recipes requested together next time. */
  #together = 1;
  /** Blocks that are fetched whole before the next recipe is requested. */
  #skipped = 0;
  #useless = 0;
  #searchedBytes = 0;
  #foundBytes = 0;

  constructor(
    parts: { readonly context: Context; readonly requests: PieceRequests; readonly calls: JoinerCalls },
    fetch: JoinedFetch,
    moved: MovedBlocks,
  ) {
    this.#context = parts.context;
    this.#requests = parts.requests;
    this.#calls = parts.calls;
    this.#fetch = fetch;
    this.#moved = moved;
    this.#old = new OldChunks(this.#context.folder.pieces, moved.old);
  }

  /** Stages the blocks that it can join. Every other block is put back, and then requested whole. */
  async run(): Promise<void> {
    const { missing } = this.#moved;
    for (let from = 0; from < missing.length; from += joinedAtOnce) {
      await this.#joinSome(missing.slice(from, from + joinedAtOnce));
    }
  }

  async #joinSome(indices: readonly number[]): Promise<void> {
    let left = indices;
    let triedShift: number | undefined;
    while (left.length > 0) {
      const { failure, isUnneeded } = this.#fetch;
      const source = this.#calls.source();
      const canAsk = source !== undefined && source !== this.#silent;
      if (!canAsk || failure !== undefined || isUnneeded) return this.#giveUp(left);
      if (this.#shift !== triedShift) {
        triedShift = this.#shift;
        const joined = await this.#joinShifted(left);
        left = left.filter((index) => !joined.has(index));
      } else if (this.#skipped > 0) {
        const skipped = left.slice(0, this.#skipped);
        this.#skipped -= skipped.length;
        left = left.slice(skipped.length);
        this.#giveUp(skipped);
      } else {
        const asked = left.slice(0, this.#together);
        left = left.slice(asked.length);
        await this.#requests.inTurn(source, () => this.#joinDescribed(asked, source));
      }
    }
  }

  /** These blocks are requested whole. */
  #giveUp(indices: readonly number[]): void {
    for (const index of indices) this.#fetch.todo.again(index);
    if (indices.length > 0) this.#calls.proceed();
  }

  /** Stages those of the blocks that are in the old version as they are, only elsewhere. */
  async #joinShifted(indices: readonly number[]): Promise<ReadonlySet<number>> {
    // Whole blocks were compared before.
    if (this.#shift % blockBytes === 0) return new Set();
    const { path, size } = this.#moved.old;
    const copies = indices.flatMap((index): readonly BlockCopy[] => {
      const { offset, length } = blockRange(this.#fetch.size, index);
      const place = offset + this.#shift;
      if (place < 0 || place + length > size) return [];
      return [{ index, from: { path, pieces: [{ offset: place, length }] } }];
    });
    const joined = await this.#stage(copies);
    // The blocks that follow an insertion need no recipes.
    if (joined.size > 0) [this.#useless, this.#together] = [0, 1];
    return joined;
  }

  async #joinDescribed(indices: readonly number[], source: PieceSource): Promise<void> {
    const blocks = await this.#describe(indices, source);
    const places = await this.#find(blocks);
    const copies: BlockCopy[] = [];
    const fetched = new Map<number, number>();
    await Promise.all(
      blocks.map(async (block, number) => {
        const parts = partsOf(block.chunks, places[number] ?? []);
        const bytes = fetchedBytes(parts);
        this.#foundBytes += block.size - bytes;
        if (bytes > fetchedShareMax * block.size) return this.#giveUp([block.index]);
        const pieces = await this.#pieces(block, parts, source);
        if (pieces === undefined) return this.#giveUp([block.index]);
        copies.push({ index: block.index, from: { path: this.#moved.old.path, pieces } });
        fetched.set(block.index, bytes);
      }),
    );
    const joined = await this.#stage(copies, { from: source, bytes: fetched });
    this.#giveUp(copies.flatMap(({ index }) => (joined.has(index) ? [] : index)));
    this.#useless = joined.size > 0 ? 0 : this.#useless + 1;
    this.#skipped = joined.size > 0 ? 0 : Math.min(skippedMax, 2 ** this.#useless);
    this.#together = joined.size > 0 ? Math.min(recipesMax, 2 * this.#together) : 1;
  }

  /** Requests the recipes of these blocks. Those without one are requested whole. */
  async #describe(indices: readonly number[], source: PieceSource): Promise<readonly Described[]> {
    const { content, size: contentSize, operation } = this.#fetch;
    const wants = indices.map((index) => ({ content, index, path: operation.path, recipe: true }));
    const recipes = await Promise.all(wants.map((want) => this.#requests.ask(source, want)));
    return indices.flatMap((index, number): readonly Described[] => {
      const { offset, length: size } = blockRange(contentSize, index);
      const recipe = recipes[number];
      const chunks = recipe && chunksOf(recipe, size);
      if (recipe !== undefined && chunks !== undefined) return [{ index, offset, size, recipe, chunks }];
      if (recipe === undefined) this.#silent = source;
      else this.#calls.corrupt(source);
      this.#giveUp([index]);
      return [];
    });
  }

  /** The places of the chunks of each block in the old version. It is searched if much of a block is not where it is expected. */
  async #find(blocks: readonly Described[]): Promise<readonly Float64Array[]> {
    if (blocks.length === 0) return [];
    let found = await this.#lookUp(blocks);
    for (let searched = 0; searched < searchedBytesMax; ) {
      const lost = blocks.find(
        ({ chunks }, number) => longestFetched(partsOf(chunks, found[number] ?? [])) >= soughtBytesMin,
      );
      if (lost === undefined || this.#searchedBytes > searchedBytesFree + searchedPerFound * this.#foundBytes) break;
      const bytes = await this.#old.searchNear(lost.offset + this.#shift);
      if (bytes === 0) break;
      searched += bytes;
      this.#searchedBytes += bytes;
      const isNew = blocks.some(({ chunks }, number) =>
        this.#old.placesOf(chunks).some((place, chunk) => place >= 0 && (found[number]?.[chunk] ?? -1) < 0),
      );
      if (isNew) found = await this.#lookUp(blocks);
    }
    for (const [number, { offset, chunks }] of blocks.entries()) {
      for (const [at, chunk] of chunks.entries()) {
        const place = found[number]?.[at] ?? -1;
        if (place >= 0) this.#shift = place - offset - chunk.offset;
      }
    }
    return found;
  }

  #lookUp(blocks: readonly Described[]): Promise<readonly Float64Array[]> {
    return this.#context.folder.pieces.find({
      path: this.#moved.old.path,
      shift: this.#shift,
      blocks: blocks.map(({ offset, size, recipe, chunks }) => ({
        offset,
        size,
        recipe,
        places: this.#old.placesOf(chunks),
      })),
    });
  }

  /** The pieces of a block, once those that are not here were fetched. Undefined if they do not come. */
  async #pieces(
    { index }: Described,
    parts: readonly Part[],
    source: PieceSource,
  ): Promise<readonly Piece[] | undefined> {
    const total = fetchedBytes(parts);
    if (total === 0) return parts;
    const { content, operation } = this.#fetch;
    const ranges = parts.flatMap(({ from, offset, length }) => (from === 'source' ? [[offset, length] as const] : []));
    await this.#context.limits.receive.take(total, source.id);
    const bytes = await this.#requests.ask(source, { content, index, path: operation.path, ranges });
    if (bytes !== undefined && bytes.length !== total) this.#calls.corrupt(source);
    if (bytes?.length !== total) return undefined;
    let at = 0;
    return parts.map((part): Piece => {
      if (part.from === 'old') return part;
      at += part.length;
      // A copy: a view would send its whole buffer to the worker.
      return bytes.slice(at - part.length, at);
    });
  }

  /** Stages blocks, and returns the indices of those whose bytes were right. `fetched`: how many bytes of each came from a member. */
  async #stage(
    copies: readonly BlockCopy[],
    fetched?: { readonly from: PieceSource; readonly bytes: ReadonlyMap<number, number> },
  ): Promise<ReadonlySet<number>> {
    if (copies.length === 0) return new Set();
    const { folder, facts, clock } = this.#context;
    const { content, size, operation } = this.#fetch;
    const { result, added } = await folder.stageCopies({
      path: operation.path,
      content,
      blocks: operation.blocks,
      size,
      copies,
    });
    if (result !== 'ok') this.#fetch.failure = result;
    for (const index of added) {
      const cameBytes = fetched?.bytes.get(index) ?? 0;
      const reusedBytes = blockRange(size, index).length - cameBytes;
      this.#fetch.staged++;
      this.#fetch.arrivals.reuse(reusedBytes);
      if (fetched !== undefined) this.#fetch.arrivals.came(cameBytes, fetched.from.id, clock.monotonicMs());
      facts.reused.publish(reusedBytes);
    }
    this.#calls.proceed();
    return new Set(added);
  }
}

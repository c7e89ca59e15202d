import type { ContentId } from '@lockstep/shared';
import type { ContentSource } from '../../core/plan/action.ts';

/** One block of a content, and where it is. */
export interface BlockSource {
  readonly content: ContentId;
  /** The hashes of its blocks; of a content of one block, none. */
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
  readonly index: number;
  readonly source: ContentSource;
}

/** A file of this folder in which the chunks of some blocks are sought, and their expected places. */
export interface SoughtChunks {
  readonly path: string;
  /** How far bytes are expected to be from their place in the new content. */
  readonly shift: number;
  readonly blocks: readonly {
    /** The position of the block in the new content, and its size. */
    readonly offset: number;
    readonly size: number;
    readonly recipe: Uint8Array;
    /** A place at which each chunk may be as well; below 0 if none is known. */
    readonly places: Float64Array;
  }[];
}

/** Reads contents that moved, chunk by chunk. */
export interface PieceReader {
  /** The recipe of a block, which is verified first. Undefined if its source no longer has it. */
  recipe(block: BlockSource): Promise<Uint8Array | undefined>;
  /** The recipe of a range of a file, as its bytes are now. Undefined if they cannot be read. A range should have a few MiB. */
  chunks(range: {
    readonly path: string;
    readonly offset: number;
    readonly length: number;
  }): Promise<Uint8Array | undefined>;
  /** The place of each chunk in the file; below 0 if it is at none of the expected ones. */
  find(sought: SoughtChunks): Promise<readonly Float64Array[]>;
}

/** A piece of a block: a range of a file here, or bytes. */
export type Piece = { readonly offset: number; readonly length: number } | Uint8Array;

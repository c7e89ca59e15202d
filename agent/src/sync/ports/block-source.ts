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

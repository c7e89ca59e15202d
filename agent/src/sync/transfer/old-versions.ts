import type { ContentId, Operation } from '@lockstep/shared';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from './content-fetcher.ts';

const askAgainMs = 50;

/** Fetches contents that this member no longer has, for users who view old versions. */
export class OldVersions {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  /** Contents that are being copied from staging into history. */
  readonly #keeping = new Set<ContentId>();
  #stopped = false;

  constructor(context: Context, transfers: ContentFetcher) {
    this.#context = context;
    this.#transfers = transfers;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Whether the content is staged only to be copied into history. */
  isKeeping(content: ContentId): boolean {
    return this.#keeping.has(content);
  }

  /** Fetches a content that this member lacks into `history/`; false if no reachable member has it. */
  async obtain(operation: Operation): Promise<boolean> {
    const { content, blocks, size = 0 } = operation;
    if (content === undefined) return false;
    const { clock, folder } = this.#context;
    const outcome = await new Promise((resolve) => {
      const ask = (): void => {
        if (!this.#transfers.fetch(operation, resolve) && !this.#stopped) clock.after(askAgainMs, ask);
      };
      ask();
    });
    if (outcome !== 'ok') return false;
    this.#keeping.add(content);
    try {
      return await folder.keep({ content, blocks, size, source: { from: 'staged' } });
    } finally {
      this.#keeping.delete(content);
      this.#transfers.drop(content);
    }
  }
}

import type { ContentId, Operation } from '@lockstep/shared';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from './content-fetcher.ts';

const askAgainMs = 50;

/** Gets contents that are on this member no more, for whoever wants to see what once stood somewhere. */
export class OldVersions {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  /** Those that are being copied from staging into history. */
  readonly #keeping = new Set<ContentId>();
  #stopped = false;

  constructor(context: Context, transfers: ContentFetcher) {
    this.#context = context;
    this.#transfers = transfers;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** It is staged for this alone. */
  isKeeping(content: ContentId): boolean {
    return this.#keeping.has(content);
  }

  /** Fetches a content that is not on this member into `history/`; false when nobody reachable has it. */
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

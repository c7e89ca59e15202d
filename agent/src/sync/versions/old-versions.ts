import type { ContentId, Operation } from '@lockstep/shared';
import type { ContentSource } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { findHere } from '../transfer/local-content.ts';

const askAgainMs = 50;

/** Finds contents of old versions here, and fetches those that this member no longer has. */
export class OldVersions {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  /** Contents that are being fetched, to be copied from staging into history. */
  readonly #obtaining = new Map<ContentId, Promise<boolean>>();
  /** Contents that are being put back, with the number of restorations of each. */
  readonly #held = new Map<ContentId, number>();
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
    return this.#obtaining.has(content);
  }

  /** True while the content is being put back: history keeps it, however little room there is. */
  isHeld(content: ContentId): boolean {
    return this.#held.has(content);
  }

  /** Keeps these contents in history, once they are there, until `use` is done with them. */
  async hold<T>(contents: readonly ContentId[], use: () => Promise<T>): Promise<T> {
    for (const content of contents) this.#held.set(content, (this.#held.get(content) ?? 0) + 1);
    try {
      return await use();
    } finally {
      for (const content of contents) this.#release(content);
    }
  }

  #release(content: ContentId): void {
    const left = (this.#held.get(content) ?? 1) - 1;
    if (left === 0) this.#held.delete(content);
    else this.#held.set(content, left);
  }

  /** A source of the content on this disk: history first, because users change files. */
  findHere(content: ContentId): Promise<ContentSource | undefined> {
    return findHere(this.#context, content, ['history', 'folder']);
  }

  /** Fetches a content that this member lacks into `history/`; false if no reachable member has it. */
  obtain(operation: Operation): Promise<boolean> {
    const { content } = operation;
    if (content === undefined) return Promise.resolve(false);
    const open = this.#obtaining.get(content);
    if (open !== undefined) return open;
    const obtained = this.#obtain(operation, content).finally(() => this.#obtaining.delete(content));
    this.#obtaining.set(content, obtained);
    return obtained;
  }

  async #obtain(operation: Operation, content: ContentId): Promise<boolean> {
    const { clock, folder } = this.#context;
    const { blocks, size = 0 } = operation;
    const outcome = await new Promise((resolve) => {
      const ask = (): void => {
        if (this.#stopped) resolve('missing');
        else if (!this.#transfers.fetch(operation, resolve)) clock.after(askAgainMs, ask);
      };
      ask();
    });
    if (outcome !== 'ok') return false;
    try {
      const [isKept] = await folder.keep([{ content, blocks, size, source: { from: 'staged' } }]);
      return isKept === true;
    } finally {
      this.#transfers.drop(content);
    }
  }
}

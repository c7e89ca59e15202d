import type { Operation } from '@lockstep/shared';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { sourcesHere } from '../transfer/local-content.ts';
import type { Failure, FetchedFile } from './file-arrival.ts';

/** Blocks after the one that a reader waits for that are fetched next: enough for a player that reads on. */
const readAheadBlocks = 4;
const waitMsMax = 1_000;

/** The files of a member on demand, for the stream of one. */
export interface StreamedFiles {
  /** Fetches the file. `goesOn`: for a reader that is counted already. */
  fetch(path: string, reader: { readonly goesOn: boolean }): Promise<FetchedFile>;
  /** True if the file is on other members only. */
  isRemote(path: string): boolean;
}

/**
 * The present version of a file that is fetched on demand, while it comes: each block can be read as soon as it is here. The block that a
 * reader waits for is requested first. The fetch goes on to the end of the file, also if the reader stops.
 */
export class FileStream {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #files: StreamedFiles;
  readonly #operation: Operation;
  #goesOn: boolean;
  #fetching: Promise<void> | undefined;
  #outcome: FetchedFile | undefined;

  /** `goesOn`: for a reader that had other parts of the file before. */
  constructor(
    context: Context,
    parts: { readonly transfers: ContentFetcher; readonly files: StreamedFiles; readonly goesOn: boolean },
    operation: Operation,
  ) {
    this.#context = context;
    this.#transfers = parts.transfers;
    this.#files = parts.files;
    this.#operation = operation;
    this.#goesOn = parts.goesOn;
  }

  /** Block `index`, verified. A sentence if it cannot be had: see `OnDemandFiles.fetch`. */
  async block(index: number): Promise<Uint8Array | Failure> {
    const { content } = this.#operation;
    if (content === undefined) return gone(this.#operation.path);
    const { facts } = this.#context;
    let hasCome = false;
    const stop = facts.staged.on((staged) => {
      hasCome ||= staged === content;
    });
    try {
      for (;;) {
        const outcome = this.#outcome;
        hasCome = false;
        const bytes = await this.#read(index);
        if (bytes !== undefined) return bytes;
        if (outcome?.isHere === false) return outcome;
        // Here, and gone again before it was read: dropped, or replaced by another version.
        if (outcome?.isHere && !this.#files.isRemote(this.#operation.path)) return gone(this.#operation.path);
        this.#fetch();
        this.#transfers.prefer(content, index, readAheadBlocks);
        await this.#untilMore(() => hasCome);
      }
    } finally {
      stop();
    }
  }

  /** Resolves when a block has come, the fetch has ended, or after a while. */
  async #untilMore(hasCome: () => boolean): Promise<void> {
    const { clock, facts } = this.#context;
    const isMore = (): boolean => hasCome() || this.#outcome !== undefined;
    await Promise.race([until(clock, isMore, { facts: [facts.staged], withinMs: waitMsMax }), this.#fetching]);
  }

  #fetch(): void {
    if (this.#fetching !== undefined) return;
    this.#outcome = undefined;
    const reader = { goesOn: this.#goesOn };
    this.#goesOn = true;
    this.#fetching = this.#files.fetch(this.#operation.path, reader).then((outcome) => {
      this.#fetching = undefined;
      this.#outcome = outcome;
    });
  }

  async #read(index: number): Promise<Uint8Array | undefined> {
    const { folder } = this.#context;
    const { content, blocks, size = 0 } = this.#operation;
    if (content === undefined) return undefined;
    for (const source of sourcesHere(this.#context, content, ['folder', 'staged'])) {
      const bytes = await folder.readBlock({ content, blocks, size, index, source });
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }
}

function gone(path: string): Failure {
  const reason = `${path} has changed, and the version that was read is not here any more: reload it.`;
  return { isHere: false, code: 'content-missing', reason, isReplaced: true };
}

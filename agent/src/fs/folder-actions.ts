import type { ContentId } from '@lockstep/shared';
import type { ActionRequest, ActionResult, ContentSource } from '../sync/ports/folder.ts';
import type { HistoryIndex } from './history-index.ts';
import { problemOf } from './path-problem.ts';
import type { StagedContents } from './staged-contents.ts';
import type { DirectoryWatches } from './watch/directory-watches.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** The parts of a folder that its actions use or change. */
interface Parts {
  readonly workers: JobRunner;
  readonly staged: StagedContents;
  readonly history: HistoryIndex;
  readonly watches: () => DirectoryWatches | undefined;
}

/** Has batches of actions executed by a worker. Watches, staged contents and history follow what it did. */
export class FolderActions {
  readonly #workers: JobRunner;
  readonly #staged: StagedContents;
  readonly #history: HistoryIndex;
  readonly #watches: Parts['watches'];

  constructor({ workers, staged, history, watches }: Parts) {
    this.#workers = workers;
    this.#staged = staged;
    this.#history = history;
    this.#watches = watches;
  }

  /** See the port's `apply`. */
  async apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]> {
    const ready = requests.filter((request) => this.#isReady(request));
    const { packed, buffer } = packRequests(ready);
    for (const { action } of ready) if (action.do === 'rename-directory') this.#watches()?.moving(action.from);
    const none = { results: [], kept: [] };
    const { results, kept } =
      ready.length === 0
        ? none
        : await this.#staged.use(stagedContents(ready), () => this.#workers.run('apply', packed, 'urgent', [buffer]));
    this.#history.add(kept);
    let next = 0;
    const all = requests.map((request): ActionResult => {
      if (ready[next] !== request) return this.#notReady(request);
      return results[next++] ?? { result: 'changed' };
    });
    this.#follow(requests, all);
    await this.#dropRefused(requests);
    return all;
  }

  #isReady({ action }: ActionRequest): boolean {
    return action.do !== 'write' || action.source.from !== 'staged' || this.#staged.isComplete(action.content);
  }

  #notReady({ action }: ActionRequest): ActionResult {
    const failure = action.do === 'write' ? this.#staged.failure(action.content) : undefined;
    if (action.do !== 'write' || failure === undefined) return { result: 'source-gone' };
    return { result: 'problem', ...problemOf(failure, action.path) };
  }

  /** Drops staged contents that the disk refused. They are fetched again when the action is tried again. */
  async #dropRefused(requests: readonly ActionRequest[]): Promise<void> {
    for (const content of stagedContents(requests)) {
      if (this.#staged.failure(content) !== undefined) await this.#staged.drop(content);
    }
  }

  /** Updates watches and staged contents after a batch. */
  #follow(requests: readonly ActionRequest[], results: readonly ActionResult[]): void {
    const takers = new Map<ContentId, boolean>();
    const watches = this.#watches();
    for (const [index, { action }] of requests.entries()) {
      const isDone = results[index]?.result === 'done';
      // The last write of a staged content takes the file itself, those before it copy it (see `Staging`).
      if (action.do === 'write' && action.source.from === 'staged') takers.set(action.content, isDone);
      if (action.do === 'rename-directory') watches?.moved(action.from, isDone ? action.to : undefined);
      if (!isDone) continue;
      if (action.do === 'mkdir') watches?.watch(action.path);
      else if (action.do === 'rmdir') watches?.forget(action.path);
    }
    for (const [content, isTaken] of takers) if (isTaken) this.#staged.consumed(content);
  }
}

/** The contents whose staged files these requests use. */
function stagedContents(requests: readonly ActionRequest[]): ReadonlySet<ContentId> {
  const contents = requests.flatMap(({ action }) =>
    action.do === 'write' && action.source.from === 'staged' ? [action.content] : [],
  );
  return new Set(contents);
}

/**
 * Copies the bytes of a batch into one buffer that can be transferred to a worker. Sending the views would clone their whole buffers, such
 * as a whole frame.
 */
function packRequests(requests: readonly ActionRequest[]): {
  readonly packed: readonly ActionRequest[];
  readonly buffer: ArrayBuffer;
} {
  let length = 0;
  for (const { action } of requests) {
    if (action.do === 'write' && action.source.from === 'bytes') length += action.source.bytes.length;
  }
  const buffer = new ArrayBuffer(length);
  let offset = 0;
  const packed = requests.map((request): ActionRequest => {
    const { action } = request;
    if (action.do !== 'write') return request;
    let source: ContentSource = action.source;
    if (source.from === 'bytes') {
      const bytes = new Uint8Array(buffer, offset, source.bytes.length);
      bytes.set(source.bytes);
      offset += bytes.length;
      source = { from: 'bytes', bytes };
    }
    // The block hashes are not needed: the complete content is verified by its id.
    return { ...request, action: { ...action, source, blocks: undefined } };
  });
  return { packed, buffer };
}

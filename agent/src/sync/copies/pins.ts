import { isBelow, isLive, LockstepError } from '@lockstep/shared';
import type { DiskEntry } from '../../core/entry.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;
const fetchesAtOnce = 16;
const afterFailureMs = 10_000;
/** A person names them, and each file is compared with all. */
const pinsMax = 1_000;

/** The result of a pin. */
export interface PinResult {
  readonly path: string;
  /** Files at the path and below it that are fetched now, and their bytes. */
  readonly files: number;
  readonly bytes: number;
}

/**
 * Keeps the file at `path`, or all below it, on this disk: what is not here is fetched, now and when it is made. `''` is the whole folder.
 * `room`: the bytes that the contents may take in all. Throws 'request-invalid' if there is nothing at the path, the member has the whole
 * folder, or what is pinned has no room.
 */
export async function pin(context: Context, path: string, room: number): Promise<PinResult> {
  const { journal, wanted, lock, facts, self } = context;
  refuseFull(self.onDemand, self.name);
  const [head] = journal.heads.at(path);
  const isThere = path === '' || (head !== undefined && isLive(head)) || journal.heads.hasLiveBelow(path);
  if (!isThere) throw invalid(`There is nothing at ${path}: name a file or directory of the folder.`);
  const others = wanted.pins.filter((pinned) => pinned !== path && !isBelow(pinned, path) && path !== '');
  if (others.some((pinned) => pinned === '' || isBelow(path, pinned))) return { path, files: 0, bytes: 0 };
  if (others.length >= pinsMax)
    throw invalid(`There are ${pinsMax} pins already: pin a directory above, or unpin some.`);
  const pins = [...others, path];
  const bytes = pins.reduce((sum, pinned) => sum + bytesAt(context, pinned), 0);
  if (bytes > room) {
    throw invalid(
      `What is pinned would have ${bytes} bytes, and the cache has room for ${room}: raise cache_size first.`,
    );
  }
  return lock.run(async () => {
    wanted.pins = pins;
    const sizes = Array.from(remoteAt(context, path), ({ dot }) => journal.log.operation(dot)?.size ?? 0);
    facts.pinned.publish();
    return { path, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
}

/** Ends the pin of `path`: its files stay until there is no room for them. Throws 'request-invalid' if it is not pinned. */
export function unpin({ wanted, self }: Context, path: string): void {
  refuseFull(self.onDemand, self.name);
  const pins = wanted.pins.filter((pinned) => pinned !== path);
  if (pins.length === wanted.pins.length) {
    const all =
      wanted.pins.length === 0 ? 'Nothing is.' : `These are: ${wanted.pins.map((pinned) => pinned || '.').join(', ')}.`;
    throw invalid(`${path === '' ? 'The whole folder' : path} is not pinned. ${all}`);
  }
  wanted.pins = pins;
}

function bytesAt({ journal }: Context, path: string): number {
  const [head] = path === '' ? [] : journal.heads.at(path);
  if (head?.content !== undefined) return head.size ?? 0;
  return journal.tree.sumBelow(path, Number.MAX_SAFE_INTEGER).bytes;
}

/** The remote files at `path` and below it. */
function* remoteAt({ journal }: Context, path: string): IterableIterator<DiskEntry> {
  const own = path === '' ? undefined : journal.disk.at(path);
  if (own?.remote) yield own;
  let after: string | undefined;
  for (;;) {
    const rows = journal.disk.remoteBelow(path, after, rowsAtOnce);
    yield* rows;
    after = rows.at(-1)?.path;
    if (rows.length < rowsAtOnce) return;
  }
}

/** Fetches what is pinned and not here: after a pin, after a start, and when a member came that may have it. */
export class PinFiller {
  readonly #context: Context;
  readonly #fetch: (path: string) => Promise<unknown>;
  readonly #loop: TaskLoop;

  constructor(context: Context, fetch: (path: string) => Promise<unknown>) {
    this.#context = context;
    this.#fetch = fetch;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) =>
        context.log.warn({ error: String(error) }, 'what is pinned could not be fetched; this is retried'),
      retryMs: afterFailureMs,
    });
    for (const fact of [context.facts.pinned, context.facts.sessionOpened]) fact.on(() => this.#loop.poke());
  }

  stop(): void {
    this.#loop.stop();
  }

  async #run(): Promise<void> {
    for (const path of this.#context.wanted.pins) {
      let batch: Promise<unknown>[] = [];
      for (const row of remoteAt(this.#context, path)) {
        if (this.#loop.isStopped) return;
        batch.push(this.#fetch(row.path));
        if (batch.length < fetchesAtOnce) continue;
        await Promise.all(batch);
        batch = [];
      }
      await Promise.all(batch);
    }
  }
}

function refuseFull(onDemand: true | undefined, name: string): void {
  if (onDemand !== true) throw invalid(`${name} has the whole folder: every file stays here.`);
}

function invalid(message: string): LockstepError {
  return new LockstepError('request-invalid', message);
}

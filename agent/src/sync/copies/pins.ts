import { isBelow, isLive, LockstepError } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import { StuckFiles } from '../../core/cache/stuck-files.ts';
import type { DiskEntry } from '../../core/entry.ts';
import type { Signal } from '../scheduling/signal.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import type { Fetch } from './copies-keeper.ts';

const rowsAtOnce = 1_000;
const fetchesAtOnce = 16;
/** The pauses between attempts to fetch what could not be fetched. */
const retry = { minMs: 10_000, maxMs: 300_000 };
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
export function unpin({ wanted, facts, self }: Context, path: string): void {
  refuseFull(self.onDemand, self.name);
  const pins = wanted.pins.filter((pinned) => pinned !== path);
  if (pins.length === wanted.pins.length) {
    const all =
      wanted.pins.length === 0 ? 'Nothing is.' : `These are: ${wanted.pins.map((pinned) => pinned || '.').join(', ')}.`;
    throw invalid(`${path === '' ? 'The whole folder' : path} is not pinned. ${all}`);
  }
  wanted.pins = pins;
  // There may be room now for other files that are pinned.
  facts.pinned.publish();
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

/**
 * Fetches what is pinned and not here: after a pin, after a start, when a member came that may have it, and when the cache was made larger.
 * A file that cannot be fetched then is tried again: there may be room, or another member may have it.
 */
export class PinFiller {
  readonly #context: Context;
  readonly #fetch: Fetch;
  readonly #loop: TaskLoop;
  /** Files that cannot be put at their path. */
  readonly #stuck = new StuckFiles();
  /** The attempts in a row after which something was missing. */
  #attempts = 0;

  /** `raised`: a person made the cache larger. */
  constructor(context: Context, { fetch, raised }: { readonly fetch: Fetch; readonly raised: Signal }) {
    this.#context = context;
    this.#fetch = fetch;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) =>
        context.log.warn({ error: String(error) }, 'what is pinned could not be fetched; this is retried'),
      retryMs: retry.minMs,
    });
    for (const fact of [context.facts.pinned, context.facts.sessionOpened, raised]) fact.on(() => this.#fill());
  }

  stop(): void {
    this.#loop.stop();
  }

  #fill(): void {
    this.#attempts = 0;
    this.#loop.poke();
  }

  async #run(): Promise<void> {
    let isAllHere = true;
    for (const path of this.#context.wanted.pins) isAllHere = (await this.#fetchBelow(path)) && isAllHere;
    if (!isAllHere) this.#loop.in(backoffMs(this.#attempts++, retry, this.#context.clock.random()));
  }

  /** Fetches the file at `path` and those below it. Returns false if some are missing. */
  async #fetchBelow(path: string): Promise<boolean> {
    let isAllHere = true;
    let batch: Promise<boolean>[] = [];
    const endBatch = async (): Promise<void> => {
      const areHere = await Promise.all(batch);
      isAllHere &&= areHere.every(Boolean);
      batch = [];
    };
    for (const row of remoteAt(this.#context, path)) {
      if (this.#loop.isStopped) return false;
      batch.push(this.#fetchOne(row.path));
      if (batch.length === fetchesAtOnce) await endBatch();
    }
    await endBatch();
    return isAllHere;
  }

  /** Fetches one file. Returns false if it may be here after another attempt. */
  async #fetchOne(path: string): Promise<boolean> {
    const { clock } = this.#context;
    if (this.#stuck.has(path, clock.monotonicMs())) return false;
    const { isHere, code } = await this.#fetch(path);
    // Time does not mend that, and the content would be fetched without end.
    if (code === 'path-in-the-way') this.#stuck.add(path, clock.monotonicMs());
    return isHere;
  }
}

function refuseFull(onDemand: true | undefined, name: string): void {
  if (onDemand !== true) throw invalid(`${name} has the whole folder: every file stays here.`);
}

function invalid(message: string): LockstepError {
  return new LockstepError('request-invalid', message);
}

import type { PathReport } from '@lockstep/shared/api';
import { Store } from '../../live/store.ts';
import { oneAtATime } from '../../live/use-api.ts';
import type { Picked } from './picked.ts';
import type { Sending, Sent } from './send-file.ts';

/** The functions of the agent that the uploader uses. */
export interface Agent {
  readonly send: (sending: Sending) => Promise<Sent>;
  readonly makeDirectory: (path: string) => Promise<Sent>;
  readonly report: (path: string) => Promise<PathReport>;
}

/** One thing that goes to the folder: a file, or an empty directory. */
interface Item {
  readonly path: string;
  readonly file: File | undefined;
  is: 'waiting' | 'sending' | Sent['is'];
  sent: number;
  /** The version that has its name. */
  taken?: string | undefined;
  replaces?: string | undefined;
  reason?: string | undefined;
}

/** On how many of the members that are to have them the files are that were sent. `why`: a sentence: what the next one waits for. */
export interface Spread {
  readonly on: number;
  readonly of: number;
  /** Other members fetch them when they are read. */
  readonly isPart: boolean;
  readonly why: string | undefined;
}

/** The files that were picked at one time, as they are shown. */
export interface Batch {
  readonly id: number;
  /** The directory that it goes to. */
  readonly directory: string;
  readonly count: number;
  readonly bytes: number;
  readonly sentBytes: number;
  /** Number of files that are in the folder of the member that serves the page. */
  readonly there: number;
  readonly isSending: boolean;
  /** Names that other files have. */
  readonly taken: readonly string[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
  /** Undefined until something is there and it is known. */
  readonly spread: Spread | undefined;
}

interface OpenBatch {
  readonly id: number;
  readonly directory: string;
  items: readonly Item[];
  /** Stops what is on its way; what is sent later has another one. */
  abort: AbortController;
  /** The paths that were sent and may not be on all members yet. */
  readonly spreading: string[];
  spread: Spread | undefined;
}

/** Small files wait for answers, not for the line. */
const atOnce = 4;

/** The page is drawn again after this time at the earliest. */
const drawMs = 100;

/** Sends what persons pick to the folder, some files at a time. Its state is what is shown. */
export class Uploader extends Store<readonly Batch[]> {
  readonly #agent: Agent;
  #batches: OpenBatch[] = [];
  #waiting: { readonly batch: OpenBatch; readonly item: Item }[] = [];
  #sending = 0;
  #nextId = 1;
  #drawing: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: Agent) {
    super([]);
    this.#agent = agent;
  }

  /** True while something is on its way: the page should not be left. */
  get isSending(): boolean {
    return this.#batches.some(({ items }) => items.some(isOpen));
  }

  add(directory: string, { files, directories }: Picked): void {
    const at = (path: string): string => (directory === '' ? path : `${directory}/${path}`);
    const items = [
      ...files.map(({ path, file }): Item => ({ path: at(path), file, is: 'waiting', sent: 0 })),
      ...directories.map((path): Item => ({ path: at(path), file: undefined, is: 'waiting', sent: 0 })),
    ];
    if (items.length === 0) return;
    const abort = new AbortController();
    const batch = { id: this.#nextId++, directory, items, abort, spreading: [], spread: undefined };
    this.#batches.push(batch);
    this.#begin(batch, items);
  }

  /** Sends the files of a batch whose names were taken, in place of those that were found there. */
  replace(id: number): void {
    this.#again(id, 'taken', (item) => {
      item.replaces = item.taken;
    });
  }

  /** Leaves the files that have the names, and does not send their namesakes. */
  leave(id: number): void {
    const batch = this.#find(id);
    if (batch === undefined) return;
    batch.items = batch.items.filter(({ is }) => is !== 'taken');
    if (batch.items.length === 0) this.close(id);
    else this.#draw();
  }

  /** Sends what failed once more. */
  retry(id: number): void {
    this.#again(id, 'failed', () => undefined);
  }

  /** Stops a batch; what is there stays. */
  stop(id: number): void {
    const batch = this.#find(id);
    if (batch === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each.batch !== batch);
    batch.items = batch.items.filter(({ is }) => is !== 'waiting');
    batch.abort.abort();
    this.#draw();
  }

  /** Forgets a batch that is not on its way any more. */
  close(id: number): void {
    this.#batches = this.#batches.filter((batch) => batch.id !== id || batch.items.some(isOpen));
    this.#draw();
  }

  /** Asks how far the files have come. Call it whenever that may have changed. */
  readonly follow = oneAtATime(async () => {
    for (const batch of this.#batches) await this.#follow(batch).catch(() => undefined);
  });

  protected override started(): void {}

  protected override stopped(): void {}

  async #follow(batch: OpenBatch): Promise<void> {
    for (let path = batch.spreading[0]; path !== undefined; path = batch.spreading[0]) {
      const { holders, copies, waitsFor } = await this.#agent.report(path);
      const keepers = holders.filter(({ name, onDemand }) => !onDemand || copies?.placedOn.includes(name));
      const on = keepers.filter(({ holds }) => holds).length;
      const of = keepers.length;
      const isEverywhere = on === of;
      const why = isEverywhere ? undefined : waitsFor[0]?.reason;
      if (of > 0) batch.spread = { on, of, isPart: of < holders.length, why };
      this.#draw();
      if (!isEverywhere) return;
      batch.spreading.shift();
    }
  }

  /** Sends those items of a batch once more that came to this end. */
  #again(id: number, end: Item['is'], prepare: (item: Item) => void): void {
    const batch = this.#find(id);
    if (batch === undefined) return;
    const items = batch.items.filter(({ is }) => is === end);
    for (const item of items) {
      prepare(item);
      item.is = 'waiting';
      item.sent = 0;
    }
    if (batch.abort.signal.aborted) batch.abort = new AbortController();
    this.#begin(batch, items);
  }

  #find(id: number): OpenBatch | undefined {
    return this.#batches.find((batch) => batch.id === id);
  }

  #begin(batch: OpenBatch, items: readonly Item[]): void {
    for (const item of items) this.#waiting.push({ batch, item });
    while (this.#sending < atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      void this.#send(next.batch, next.item);
    }
    this.#draw();
  }

  async #send(batch: OpenBatch, item: Item): Promise<void> {
    const { path, file, replaces } = item;
    item.is = 'sending';
    this.#sending++;
    const progressed = (bytes: number): void => {
      item.sent = Math.min(bytes, file?.size ?? 0);
      this.#draw();
    };
    const sent =
      file === undefined
        ? await this.#agent.makeDirectory(path)
        : await this.#agent.send({ path, file, replaces, signal: batch.abort.signal, progressed });
    this.#sending--;
    item.is = sent.is;
    item.taken = sent.is === 'taken' ? sent.version : undefined;
    item.reason = sent.is === 'failed' ? sent.reason : undefined;
    if (sent.is === 'there') {
      item.sent = file?.size ?? 0;
      batch.spreading.push(path);
      void this.follow();
    }
    this.#begin(batch, []);
  }

  #draw(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.set(this.#batches.map(shown));
    }, drawMs);
  }
}

function isOpen({ is }: Item): boolean {
  return is === 'waiting' || is === 'sending';
}

function shown({ id, directory, items, spread }: OpenBatch): Batch {
  const pick = (is: Item['is']): readonly Item[] => items.filter((item) => item.is === is);
  return {
    id,
    directory,
    count: items.length,
    bytes: items.reduce((sum, { file }) => sum + (file?.size ?? 0), 0),
    sentBytes: items.reduce((sum, { sent }) => sum + sent, 0),
    there: pick('there').length,
    isSending: items.some(isOpen),
    taken: pick('taken').map(({ path }) => path),
    failed: pick('failed').map(({ path, reason = '' }) => ({ path, reason })),
    spread,
  };
}

import { type ContentId, historyListIntervalMs } from '@lockstep/shared';
import type { HistoryLimits, HistoryUse } from '../sync/ports/folder.ts';
import { historyShards, type KeptVersion } from './apply/history.ts';
import type { ControlCalls } from './system-calls.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Directories listed by one job: each holds a 256th of history. */
const shardsAtOnce = 8;

type Clocks = Pick<ControlCalls, 'wallMs' | 'monotonicMs' | 'turn'>;

/** Versions that are examined between two pauses, and removed by one job. */
const examinedAtOnce = 512;

/**
 * An index of history in memory, oldest first. The agent's own changes are recorded as they are made. The disk is listed at the first use
 * and then rarely, for changes by others.
 */
export class HistoryIndex {
  readonly #workers: Pick<JobRunner, 'run'>;
  readonly #control: Clocks;
  #versions = new Map<ContentId, KeptVersion>();
  #bytes = 0;
  #listedMs = Number.NEGATIVE_INFINITY;
  /** Versions added while history is being listed. */
  #added: KeptVersion[] | undefined;

  constructor(workers: Pick<JobRunner, 'run'>, control: Clocks) {
    this.#workers = workers;
    this.#control = control;
  }

  /** Records versions that the agent added. */
  add(versions: readonly KeptVersion[]): void {
    for (const version of versions) {
      this.#added?.push(version);
      this.#remove(version.content);
      this.#versions.set(version.content, version);
      this.#bytes += version.bytes;
    }
  }

  /** Undefined until it was listed for the first time. */
  get use(): HistoryUse | undefined {
    return this.#listedMs === Number.NEGATIVE_INFINITY ? undefined : this.#used;
  }

  /** Lists the disk if that is due. */
  async count(): Promise<HistoryUse> {
    await this.#listIfDue();
    return this.#used;
  }

  get #used(): HistoryUse {
    return { versions: this.#versions.size, bytes: this.#bytes };
  }

  /** Removes the oldest versions beyond the limits, except those that are `needed`. */
  async trim(limits: HistoryLimits, needed: (content: ContentId) => boolean): Promise<void> {
    await this.#listIfDue();
    const oldestMs = this.#control.wallMs() - limits.ageMsMax;
    const left = { bytes: this.#bytes, files: this.#versions.size };
    const isOver = ({ keptAtMs }: KeptVersion): boolean =>
      left.bytes > limits.bytesMax || left.files > limits.filesMax || keptAtMs < oldestMs;
    const versions = [...this.#versions.values()];
    for (let from = 0; from < versions.length; from += examinedAtOnce) {
      const goes: ContentId[] = [];
      for (const version of versions.slice(from, from + examinedAtOnce)) {
        if (!isOver(version)) break;
        // It was kept once more in the meantime.
        if (this.#versions.get(version.content) !== version || needed(version.content)) continue;
        goes.push(version.content);
        left.bytes -= version.bytes;
        left.files--;
      }
      if (goes.length > 0) await this.#workers.run('forgetHistory', goes, 'background');
      for (const content of goes) this.#remove(content);
      const last = versions[from + examinedAtOnce - 1];
      if (last === undefined || !isOver(last)) return;
      // Each version asks the journal, and all may be needed: in one go they would delay everything else for seconds.
      await this.#control.turn();
    }
  }

  async #listIfDue(): Promise<void> {
    if (this.#control.monotonicMs() - this.#listedMs >= historyListIntervalMs) await this.#list();
  }

  async #list(): Promise<void> {
    const added: KeptVersion[] = [];
    this.#added = added;
    const found: KeptVersion[] = [];
    try {
      for (let from = 0; from < historyShards; from += shardsAtOnce) {
        const page = { from, to: Math.min(historyShards, from + shardsAtOnce) };
        for (const version of await this.#workers.run('listHistory', page, 'background')) found.push(version);
      }
    } finally {
      this.#added = undefined;
    }
    found.sort((a, b) => a.keptAtMs - b.keptAtMs);
    this.#versions = new Map();
    this.#bytes = 0;
    this.add(found);
    this.add(added);
    this.#listedMs = this.#control.monotonicMs();
  }

  #remove(content: ContentId): void {
    const known = this.#versions.get(content);
    if (known === undefined) return;
    this.#versions.delete(content);
    this.#bytes -= known.bytes;
  }
}

import { type ContentId, historyListIntervalMs } from '@lockstep/shared';
import type { HistoryLimits, HistoryUse } from '../sync/ports/folder.ts';
import { historyShards, type KeptVersion } from './apply/history.ts';
import type { ControlCalls } from './system-calls.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Directories listed by one job: each holds a 256th of history. */
const shardsAtOnce = 8;

/** Versions removed by one job. */
const forgottenAtOnce = 4_096;

/**
 * An index of history in memory, oldest first. The agent's own changes are recorded as they are made. The disk is listed at the first use
 * and then rarely, for changes by others.
 */
export class HistoryIndex {
  readonly #workers: JobRunner;
  readonly #control: ControlCalls;
  #versions = new Map<ContentId, KeptVersion>();
  #bytes = 0;
  #listedMs = Number.NEGATIVE_INFINITY;
  /** Versions added while history is being listed. */
  #added: KeptVersion[] | undefined;

  constructor(workers: JobRunner, control: ControlCalls) {
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
    const goes = this.#beyond(limits, needed);
    for (let index = 0; index < goes.length; index += forgottenAtOnce) {
      const some = goes.slice(index, index + forgottenAtOnce);
      await this.#workers.run('forgetHistory', some, 'background');
      for (const content of some) this.#remove(content);
    }
  }

  #beyond(limits: HistoryLimits, needed: (content: ContentId) => boolean): readonly ContentId[] {
    const oldestMs = this.#control.wallMs() - limits.ageMsMax;
    let [bytes, files] = [this.#bytes, this.#versions.size];
    const goes: ContentId[] = [];
    for (const { content, bytes: occupied, keptAtMs } of this.#versions.values()) {
      if (bytes <= limits.bytesMax && files <= limits.filesMax && keptAtMs >= oldestMs) break;
      if (needed(content)) continue;
      goes.push(content);
      bytes -= occupied;
      files -= 1;
    }
    return goes;
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
        found.push(...(await this.#workers.run('listHistory', page, 'background')));
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

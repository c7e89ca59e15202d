import { UseOrder } from '../../core/cache/use-order.ts';
import type { Cache } from '../cache/cache.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';
import type { OnDemandFiles } from './on-demand-files.ts';

/** Remembers in the journal which files were used last. After a restart the cache knows from that what its files are worth. */
export class UseRecord {
  readonly #context: Context;
  readonly #cache: Cache;
  readonly #order: UseOrder;

  constructor(context: Context, { files, cache }: { readonly files: OnDemandFiles; readonly cache: Cache }) {
    this.#context = context;
    this.#cache = cache;
    const stored = context.journal.uses.all();
    this.#order = new UseOrder(stored);
    cache.restore(stored);
    files.read.on(({ path }) => this.#order.used(path));
    context.facts.second.on(() => this.store());
  }

  /** The files that were used last, the newest first. */
  newestFirst(): readonly string[] {
    return this.#order.newestFirst();
  }

  /** Stores what has changed since the last call. */
  store(): void {
    const { used, forgotten } = this.#order.takeChanges();
    if (used.length === 0 && forgotten.length === 0) return;
    const uses = used.map((use) => ({ ...use, ...this.#cache.worth(use.path) }));
    writeIfRoom(() => this.#context.journal.uses.note(uses, forgotten));
  }
}

import type { WorkReport } from '@lockstep/shared/api';

/** A long work under way, of which the worker counts what is done. */
export interface Task {
  did(count: number): void;
  end(): void;
}

/** The long works that users requested and that are under way. */
export class Work {
  readonly #open = new Set<WorkReport>();

  /** Begins a work of about `total` paths. */
  begin(what: WorkReport['what'], total: number): Task {
    const task = { what, done: 0, total };
    this.#open.add(task);
    return {
      did(count) {
        task.done += count;
        task.total = Math.max(task.total, task.done);
      },
      end: () => this.#open.delete(task),
    };
  }

  list(): readonly WorkReport[] {
    return [...this.#open].map((task) => ({ ...task }));
  }
}

import { isLive, isMemberPath } from '@lockstep/shared';
import { formatItems } from '@lockstep/shared/present';
import type { Context } from '../state/context.ts';

const openCheckMs = 1_000;
const pathsNamedMax = 10;

/** The results of the check after a power cut: paths by their kind. Reports them until the disk shows the heads again. */
export class PowerCutReport {
  /** Missing or damaged files: their content comes from other members. */
  readonly fetched: string[] = [];
  readonly undone: string[] = [];
  readonly copies: string[] = [];
  readonly #context: Context;
  #stopped = false;
  #watching = false;
  #telling = false;

  constructor(context: Context) {
    this.#context = context;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Schedules a report: torn files are found one by one while the folder is compared with the journal. */
  tellSoon(done: () => void): void {
    if (this.#telling) return;
    this.#telling = true;
    this.#context.clock.after(openCheckMs, () => {
      this.#telling = false;
      if (!this.#stopped && this.tell()) done();
    });
  }

  /** Reports the results. True if they require action. */
  tell(): boolean {
    const { fetched, undone, copies } = this;
    if (fetched.length + undone.length === 0) return false;
    const paths = [...fetched, ...undone].slice(0, pathsNamedMax);
    const counts = { fetched: fetched.length, undone: undone.length, copies: copies.length };
    this.#context.events.add('power-cut', { ...counts, paths });
    const files = fetched.length + undone.length;
    const detail =
      `The machine or its disk stopped before ${files === 1 ? 'a change' : formatItems(files, 'change')} made in the folder had reached the disk, ` +
      `at ${paths.join(', ')}${files > paths.length ? ' and more' : ''}. The missing content comes from the other members` +
      `${copies.length > 0 ? `; the remains are kept as ${copies.slice(0, pathsNamedMax).join(', ')}` : ''}.`;
    this.#context.problems.set('power-cut', {}, detail);
    if (!this.#watching) this.#watch();
    return true;
  }

  /** Withdraws the problem once the disk shows the heads again. */
  #watch(): void {
    const { clock, problems } = this.#context;
    if (this.#stopped) return;
    const { fetched, undone } = this;
    this.#watching = [...fetched, ...undone].some((path) => this.#isOpen(path));
    if (this.#watching) clock.after(openCheckMs, () => this.#watch());
    else problems.clear('power-cut');
  }

  #isOpen(path: string): boolean {
    const { journal } = this.#context;
    const [head] = journal.heads.at(path);
    if (head === undefined || isMemberPath(path)) return false;
    const row = journal.disk.at(path);
    if (row === undefined) return isLive(head);
    return row.damaged === true || row.dot.origin !== head.origin || row.dot.seq !== head.seq;
  }
}

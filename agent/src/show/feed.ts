import { isBelow } from '@lockstep/shared';
import type { LoggedOperation, OperationsPage, OperationsQuery } from '@lockstep/shared/api';
import { Random } from '../sim/random.ts';
import type { Part } from './cast.ts';

const keptMax = 120_000;
const tickMs = 50;
const folders = ['Bridge/Drawings', 'Letters', 'Photos/2026 regatta', 'Budget', 'Minutes', 'Plans/Quay wall/Section B'];
const files = ['survey', 'notes', 'site plan', 'IMG_4211', 'north elevation', 'minutes', 'estimate', 'crane hire'];
const endings = ['md', 'dwg', 'jpg', 'ods', 'csv', 'pdf'];

/** Operations that are made all the time, as a busy office would. */
export class Feed {
  readonly #makers: readonly Part[];
  readonly #perSecond: number;
  readonly #random = new Random(2_000);
  readonly #wakes = new Set<() => void>();
  readonly #timer: ReturnType<typeof setInterval>;
  #kept: LoggedOperation[] = [];
  #rows = 0;
  #owed = 0;

  constructor(makers: readonly Part[], perSecond: number) {
    this.#makers = makers;
    this.#perSecond = perSecond;
    const now = Date.now();
    for (let past = 400; past > 0; past--) this.#make(now - past * 1_700);
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  get rows(): number {
    return this.#rows;
  }

  onJournaled(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => {
      this.#wakes.delete(wake);
    };
  }

  page({ after, before, limit, path }: OperationsQuery): OperationsPage {
    const first = this.#kept[0]?.row ?? 1;
    const wanted = (operation: LoggedOperation) =>
      path === undefined || operation.path === path || isBelow(operation.path, path);
    const chosen =
      after === undefined
        ? this.#kept.slice(0, before === undefined ? undefined : Math.max(0, before - first)).reverse()
        : this.#kept.slice(Math.max(0, after + 1 - first));
    const operations: LoggedOperation[] = [];
    for (const operation of chosen) {
      if (operations.length === limit) return { operations, next: operations.at(-1)?.row ?? null };
      if (wanted(operation)) operations.push(operation);
    }
    return { operations, next: null };
  }

  find(origin: string, seq: number): LoggedOperation | undefined {
    return this.#kept.find((operation) => operation.seq === seq && operation.origin === origin);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#owed += (this.#perSecond * tickMs) / 1_000;
    const now = Date.now();
    for (; this.#owed >= 1; this.#owed--) this.#make(now);
    if (this.#kept.length > 2 * keptMax) this.#kept = this.#kept.slice(-keptMax);
    for (const wake of this.#wakes) wake();
  }

  /** One operation, or now and then a directory that is renamed with all that is in it. */
  #make(at: number): void {
    const maker = this.#random.pick(this.#makers);
    const folder = this.#random.pick(folders);
    if (this.#random.chance(0.01)) {
      const group = this.#rows + 1;
      this.#add(maker, at, { kind: 'mkdir', path: `${folder} (old)`, from: folder, group });
      for (let file = 1; file < 24; file++) {
        const name = `IMG_${4_000 + file}.jpg`;
        const size = 40_000 + file * 731;
        this.#add(maker, at, { kind: 'put', path: `${folder} (old)/${name}`, from: `${folder}/${name}`, size, group });
      }
      return;
    }
    const path = `${folder}/${this.#random.pick(files)} ${this.#random.below(90)}.${this.#random.pick(endings)}`;
    const kind = this.#random.weighted({ put: 16, delete: 2, attr: 1 });
    const isNew = this.#random.chance(0.5);
    const replaced = isNew ? {} : { replaced: `b3:${'0'.repeat(64)}` };
    this.#add(maker, at, { kind, path, ...(kind === 'put' && { size: this.#random.below(6_000_000), ...replaced }) });
  }

  #add(maker: Part, at: number, what: Pick<LoggedOperation, 'kind' | 'path'> & Partial<LoggedOperation>): void {
    const row = ++this.#rows;
    this.#kept.push({
      row,
      journaledAt: at,
      origin: `${maker.id}.abcdefgh`,
      seq: row,
      member: maker.id,
      memberName: maker.name,
      at: at - 12,
      hlc: at * 1_024,
      ...(what.kind === 'put' && { content: `b3:${'1'.repeat(64)}`, mode: 0o644, mtimeUs: at * 1_000 }),
      ...what,
    });
  }
}

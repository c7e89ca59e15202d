import { isMemberPath, parentOf } from '@lockstep/shared';
import type { JournalDatabase } from '../database.ts';
import { directChildren } from '../path-range.ts';
import { limitTo, type Statement } from '../statement.ts';
import { absentType, directoryType } from './head-row.ts';

interface ChildRow {
  readonly op: number;
  readonly path: string;
}

/**
 * Maintains the mark of live heads that have lost their parent directory: `orphans` is queried after every batch and is nearly always
 * empty. For that, the table `parents` counts the live entries in each directory. So the removal of an empty directory (every ordinary `rm
 * -r`) costs one look-up.
 */
export class ParentStore {
  readonly #visibleType: Statement<{ type: number }>;
  readonly #count: Statement<{ live: number }>;
  readonly #addToCount: Statement;
  readonly #dropCount: Statement;
  readonly #children: Statement<ChildRow>;
  readonly #mark: Statement;
  readonly #markPath: Statement;
  readonly #liveDeltas = new Map<string, number>();
  readonly #liveChildren = new Map<string, string[]>();
  /** Paths that became a directory or ceased to be one. */
  readonly #changed = new Set<string>();

  constructor(database: JournalDatabase) {
    this.#visibleType = database.statement('SELECT type FROM heads WHERE path = ? AND rank = 0');
    this.#count = database.statement('SELECT live FROM parents WHERE path = ?');
    this.#addToCount = database.statement(
      'INSERT INTO parents (path, live) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET live = live + excluded.live',
    );
    this.#dropCount = database.statement('DELETE FROM parents WHERE path = ? AND live = 0');
    this.#children = database.statement(
      `SELECT op, path FROM heads WHERE path >= ? AND path < ? AND rank = 0 AND type <> ${absentType} ORDER BY path ${limitTo}`,
    );
    this.#mark = database.statement('UPDATE heads SET orphan = ? WHERE op = ?');
    // Only if still live: within one batch an entry can come and go.
    this.#markPath = database.statement(
      `UPDATE heads SET orphan = 1 WHERE path = ? AND rank = 0 AND type <> ${absentType}`,
    );
    database.addHook({ afterRollback: () => this.#clear() });
  }

  /** The number of live entries directly in `directory`. */
  liveIn(directory: string): number {
    return this.#count.get(directory)?.live ?? 0;
  }

  /** Notes that the visible head of `path` changed from type `before` to type `after`; its row was written again, without a mark. */
  visibleChanged(path: string, before: number, after: number): void {
    if (isMemberPath(path)) return;
    const parent = parentOf(path);
    const delta = Number(after !== absentType) - Number(before !== absentType);
    if (delta !== 0) this.#liveDeltas.set(parent, (this.#liveDeltas.get(parent) ?? 0) + delta);
    if (after !== absentType && parent !== '') {
      const children = this.#liveChildren.get(parent);
      if (children) children.push(path);
      else this.#liveChildren.set(parent, [path]);
    }
    if ((before === directoryType) !== (after === directoryType)) this.#changed.add(path);
  }

  /** Writes the changes that `visibleChanged` gathered. Once for each batch: its paths share their parents. */
  flush(): void {
    for (const [parent, delta] of this.#liveDeltas) {
      if (delta === 0) continue;
      this.#addToCount.run(parent, delta);
      if (delta < 0) this.#dropCount.run(parent);
    }
    for (const [parent, paths] of this.#liveChildren) {
      if (this.#stands(parent)) continue;
      for (const path of paths) this.#markPath.run(path);
    }
    for (const path of this.#changed) this.#markChildren(path);
    this.#clear();
  }

  #markChildren(directory: string): void {
    if (this.liveIn(directory) === 0) return;
    const mark = this.#stands(directory) ? null : 1;
    const page = this.#children.all.bind(this.#children);
    for (const { op } of directChildren(directory, page)) this.#mark.run(mark, op);
  }

  #stands(path: string): boolean {
    return this.#visibleType.get(path)?.type === directoryType;
  }

  #clear(): void {
    this.#liveDeltas.clear();
    this.#liveChildren.clear();
    this.#changed.clear();
  }
}

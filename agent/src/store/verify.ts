import type { Operation } from '@lockstep/shared';
import { mergeHead } from '../core/merge.ts';
import type { JournalDatabase } from './database.ts';
import type { DiskStore } from './disk.ts';
import { absentType, type HeadRow, headRow, headValues } from './heads/head-row.ts';
import type { HeadStore } from './heads/head-store.ts';
import type { ParentStore } from './heads/parent-store.ts';
import { damaged } from './journal-error.ts';
import { type LogPlace, type OperationLog, placeOf } from './operations/operation-log.ts';
import { type OperationRow, operationColumns } from './operations/operation-row.ts';
import type { OriginTable } from './operations/origin-table.ts';
import { successor } from './path-range.ts';
import { limitTo, type Statement } from './statement.ts';
import { noHeads, type TotalsStore } from './totals.ts';

interface Parts {
  readonly origins: OriginTable;
  readonly log: OperationLog;
  readonly disk: DiskStore;
  readonly heads: HeadStore;
  readonly parents: ParentStore;
  readonly totals: TotalsStore;
}

interface PathRow {
  readonly path: string;
  readonly type: number;
}

/** The heads of one path, and their places in the log. */
interface Replay {
  readonly heads: readonly Operation[];
  readonly places: ReadonlyMap<Operation, LogPlace>;
}

const noReplay: Replay = { heads: [], places: new Map() };
const noPlace: LogPlace = { row: 0, mark: 0 };
const rebuildPageRows = 1_000;

/** Replays the log and compares the result with what is stored (rule Replay). */
export class Verifier {
  readonly #database: JournalDatabase;
  readonly #parts: Parts;
  readonly #byPath: Statement<OperationRow>;
  readonly #ofPath: Statement<OperationRow>;
  readonly #strays: Statement<{ path: string }>;
  readonly #visible: Statement<PathRow>;
  readonly #forgetParents: Statement;
  readonly #forgetOrphans: Statement;

  constructor(database: JournalDatabase, parts: Parts) {
    this.#database = database;
    this.#parts = parts;
    const select = `SELECT ${operationColumns} FROM ops`;
    // The heads of one path depend only on the operations of that path: in this order one path at a time is in memory.
    this.#byPath = database.statement(`${select} INDEXED BY ops_path ORDER BY path, row`);
    this.#ofPath = database.statement(`${select} WHERE path = ? ORDER BY row`);
    this.#strays = database.statement(
      'SELECT DISTINCT path FROM heads WHERE NOT EXISTS (SELECT 1 FROM ops WHERE ops.path = heads.path) ORDER BY path',
    );
    this.#visible = database.statement(
      `SELECT path, type FROM heads WHERE rank = 0 AND path >= ? ORDER BY path ${limitTo}`,
    );
    this.#forgetParents = database.statement('DELETE FROM parents');
    this.#forgetOrphans = database.statement('UPDATE heads SET orphan = NULL WHERE orphan IS NOT NULL');
  }

  /**
   * Compares the heads of all paths and their states with a replay of the log. With `repair`, the paths that differ are replaced, and the
   * digest, the counts and the orphans are always computed again. Returns the number of paths compared and the paths that differ. Throws
   * `journal-damaged` if the index of paths is incomplete.
   */
  verify(repair: boolean): { readonly compared: number; readonly differing: readonly string[] } {
    return this.#database.transaction(() => {
      const strays = this.#strays.all().map(({ path }) => path);
      const { compared, differing } = this.#compare();
      const all = [...differing, ...strays];
      if (repair) {
        this.replay(all);
        this.rebuild();
      }
      return { compared: compared + strays.length, differing: all };
    });
  }

  #compare(): { readonly compared: number; readonly differing: readonly string[] } {
    const differing: string[] = [];
    let compared = 0;
    let operations = 0;
    let path: string | undefined;
    let replay = noReplay;
    const finish = (): void => {
      if (path === undefined) return;
      compared += 1;
      if (!this.#matches(path, replay)) differing.push(path);
    };
    for (const row of this.#byPath.each()) {
      if (row.path !== path) {
        finish();
        path = row.path;
        replay = noReplay;
      }
      replay = this.#next(replay, row);
      operations += 1;
    }
    finish();
    if (operations !== this.#parts.log.length()) {
      throw damaged(this.#database.path, 'its index of paths misses operations');
    }
    return { compared, differing };
  }

  #next(replay: Replay, row: OperationRow): Replay {
    if (this.#parts.origins.isBranch(row.origin)) return replay;
    const operation = this.#parts.log.toOperation(row);
    const heads = mergeHead(replay.heads, operation);
    if (heads === replay.heads) return replay;
    const places = new Map<Operation, LogPlace>();
    for (const head of heads) {
      const place = head === operation ? placeOf(row) : replay.places.get(head);
      if (place !== undefined) places.set(head, place);
    }
    return { heads, places };
  }

  #matches(path: string, { heads, places }: Replay): boolean {
    const stored = this.#parts.heads.rows(path);
    if (stored.length !== heads.length) return false;
    const shown = this.#parts.disk.shown(path);
    return heads.every((operation, rank) => {
      const origin = this.#parts.origins.number(operation.origin);
      const { row: op, mark } = places.get(operation) ?? noPlace;
      const expected = headRow({ operation, op, mark, origin, rank, shown });
      const found = stored[rank];
      return found !== undefined && sameRow(expected, found);
    });
  }

  /** Derives the heads of these paths from the log again. */
  replay(paths: Iterable<string>): void {
    const all = [...paths];
    // All old rows are removed first: one may be of an operation that is at another path now, or at none.
    for (const path of all) this.#parts.heads.set(path, []);
    for (const path of all) this.#repair(path);
  }

  #repair(path: string): void {
    let replay = noReplay;
    for (const row of this.#ofPath.all(path)) replay = this.#next(replay, row);
    const { heads, places } = replay;
    this.#parts.heads.set(
      path,
      heads.map((operation) => ({ operation, place: places.get(operation) ?? noPlace })),
    );
  }

  /** Computes all totals and the orphans again from the heads and the rows of `disk`. */
  rebuild(): void {
    const { heads, disk, parents, totals } = this.#parts;
    parents.flush();
    this.#forgetParents.run();
    this.#forgetOrphans.run();
    Object.assign(totals.change(), noHeads());
    disk.recount();
    let from = '';
    for (;;) {
      const page = this.#visible.all(from, rebuildPageRows);
      for (const { path, type } of page) {
        heads.addToTotals(path);
        parents.visibleChanged(path, absentType, type);
      }
      parents.flush();
      const last = page.at(-1);
      if (last === undefined) return;
      from = successor(last.path);
    }
  }
}

function sameRow(a: HeadRow, b: HeadRow): boolean {
  const values = headValues(b);
  return headValues(a).every((value, index) => value === values[index]);
}

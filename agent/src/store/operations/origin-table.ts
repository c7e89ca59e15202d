import type { OriginId } from '@lockstep/shared';
import type { JournalDatabase } from '../database.ts';
import type { Statement } from '../statement.ts';

interface Names {
  readonly numbers: Map<OriginId, number>;
  readonly names: Map<number, OriginId>;
  /** The numbers of branches: their operations do not count. */
  readonly branches: Set<number>;
}

/** The table `origins`: a small number for each origin. There are few: one for each journal that a member ever had. */
export class OriginTable {
  readonly #all: Statement<{ id: number; name: OriginId; branch_of: number | null }>;
  readonly #insert: Statement;
  readonly #setBranch: Statement;
  #loaded: Names | undefined;

  constructor(database: JournalDatabase) {
    this.#all = database.statement('SELECT id, name, branch_of FROM origins');
    this.#insert = database.statement('INSERT INTO origins (id, name) VALUES (?, ?)');
    this.#setBranch = database.statement('UPDATE origins SET branch_of = ? WHERE id = ?');
    database.addHook({
      afterRollback: () => {
        this.#loaded = undefined;
      },
    });
  }

  /** The number of `origin`, assigned now if it has none yet. */
  number(origin: OriginId): number {
    const known = this.find(origin);
    if (known !== undefined) return known;
    const { numbers, names } = this.#names();
    const number = numbers.size + 1;
    this.#insert.run(number, origin);
    numbers.set(origin, number);
    names.set(number, origin);
    return number;
  }

  /** Returns the number of `name`, and marks it as the branch of the operations that were cut off the origin number `of`. */
  branch(name: OriginId, of: number): number {
    const number = this.number(name);
    this.#setBranch.run(of, number);
    this.#names().branches.add(number);
    return number;
  }

  isBranch(number: number): boolean {
    return this.#names().branches.has(number);
  }

  find(origin: OriginId): number | undefined {
    return this.#names().numbers.get(origin);
  }

  name(number: number): OriginId {
    const name = this.#names().names.get(number);
    if (name === undefined) throw new Error(`The journal has no origin number ${number}.`);
    return name;
  }

  #names(): Names {
    if (this.#loaded) return this.#loaded;
    const loaded: Names = { numbers: new Map(), names: new Map(), branches: new Set() };
    for (const { id, name, branch_of: branchOf } of this.#all.all()) {
      loaded.numbers.set(name, id);
      loaded.names.set(id, name);
      if (branchOf !== null) loaded.branches.add(id);
    }
    this.#loaded = loaded;
    return loaded;
  }
}

import { join } from 'node:path';
import type { Operation, OriginId } from '@lockstep/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DiskEntry } from '../core/entry.ts';
import { SqliteDatabase } from '../os/sqlite.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { ant, bee, content, fingerprint, mkdir, openAnt, put, remove, temporaryFolder } from './fixtures.contract.ts';

const paths = ['a', 'b', 'c'] as const;
const anyPath = fc.constantFrom(...paths);
/** Few contents, each of its own size, so that a row often has the content of the head. */
const anyFile = fc.integer({ min: 0, max: 4 });

const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: anyFile, path: anyPath, by: fc.constantFrom(ant, bee) }) },
  fc.record({ mkdir: anyPath, by: fc.constantFrom(ant, bee) }),
  fc.record({ remove: anyPath, by: fc.constantFrom(ant, bee) }),
  { weight: 4, arbitrary: fc.record({ shown: fc.nat(9), damaged: fc.boolean(), isDoubtful: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ stray: anyFile, path: anyPath }) },
  fc.record({ forgotten: anyPath }),
  fc.record({ sealed: fc.nat(9) }),
  fc.constantFrom('rolled back' as const, 'synced' as const, 'confirmed' as const),
  fc.constant('repaired' as const),
);
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

const sizeOf = (file: number): number => file * 1_000;

/** Takes steps at random on one journal. */
class Walk {
  readonly journal: Journal;
  readonly #last = new Map<OriginId, number>();
  readonly #made: Operation[] = [];

  get made(): readonly Operation[] {
    return this.#made;
  }

  constructor(path: string) {
    this.journal = openAnt(path);
  }

  take(step: Step): void {
    if (step === 'repaired') this.journal.verifyHeads(true);
    else if (step === 'rolled back') this.#rollBack();
    else if (step === 'synced') this.#sync();
    else if (step === 'confirmed') this.journal.disk.confirmed(this.journal.disk.clean(undefined, 9));
    else if ('put' in step) {
      const file = { content: content(step.put), size: sizeOf(step.put) };
      this.#append(step.by, (seq) => put(step.by, seq, step.path, file));
    } else if ('mkdir' in step) this.#append(step.by, (seq) => mkdir(step.by, seq, step.mkdir));
    else if ('remove' in step) this.#append(step.by, (seq) => remove(step.by, seq, step.remove));
    else if ('shown' in step) this.#show(this.#made[step.shown % this.#made.length], step);
    else if ('stray' in step) {
      const left = { ...fingerprint(1), size: sizeOf(step.stray) };
      this.#record(step.path, { dot: { origin: ant, seq: 1 }, content: content(step.stray), fingerprint: left });
    } else if ('forgotten' in step) this.#record(step.forgotten, undefined);
    else if (step.sealed < (this.#last.get(bee) ?? 0)) this.journal.seal(bee, step.sealed);
  }

  #append(by: OriginId, make: (seq: number) => Operation): void {
    const seq = (this.#last.get(by) ?? 0) + 1;
    const operation = make(seq);
    if (this.journal.append([operation]).length === 0) return;
    this.#last.set(by, seq);
    this.#made.push(operation);
  }

  #show(operation: Operation | undefined, { damaged, isDoubtful }: Extract<Step, { shown: number }>): void {
    if (operation === undefined) return;
    const { origin, seq, path, kind, size = 4_096 } = operation;
    const left = { ...fingerprint(seq, kind === 'mkdir' ? 0o040755 : 0o100644), size };
    this.#record(path, {
      dot: { origin, seq },
      content: damaged ? undefined : operation.content,
      fingerprint: kind === 'delete' ? undefined : left,
      ...(damaged && { damaged }),
      ...(isDoubtful && { unsynced: true, unconfirmed: 'dirty', racy: true }),
    });
  }

  #record(path: string, entry: Omit<DiskEntry, 'path'> | undefined): void {
    this.journal.disk.record([{ path, entry }]);
  }

  #sync(): void {
    const { mark } = this.journal.disk.unsynced(0);
    this.journal.disk.synced(0, mark, { beganMs: Number.MAX_SAFE_INTEGER, endedMs: Number.MAX_SAFE_INTEGER });
  }

  #rollBack(): void {
    const undone = new Error('undone');
    const change = (): void =>
      this.journal.transaction(() => {
        for (const path of paths) this.#record(path, undefined);
        throw undone;
      });
    expect(change).toThrow(undone);
  }
}

/** All that is cached: the rows of the disk, the heads and the operations of one origin. */
function contents(journal: Journal, made: readonly Operation[]) {
  return {
    disk: paths.map((path) => journal.disk.at(path)),
    heads: paths.map((path) => journal.heads.at(path)),
    operations: made.map((operation) => journal.log.operation(operation)),
    ofBee: journal.log.operationsOf(bee, 0, 100),
  };
}

test('what a journal returns is what another connection reads, whatever was cached before', () => {
  const property = fc.property(fc.array(anyStep, { minLength: 1, maxLength: 20 }), (steps) => {
    const path = join(temporaryFolder(), 'journal.db');
    const walk = new Walk(path);
    try {
      for (const step of steps) {
        walk.take(step);
        const other = openAnt(path);
        expect(contents(walk.journal, walk.made)).toEqual(contents(other, walk.made));
        other.close();
      }
    } finally {
      walk.journal.close();
    }
  });
  fc.assert(property, { numRuns: 60 });
});

/** The counts as one query over all rows gives them. */
const counted = `SELECT
  (SELECT coalesce(sum(heads.size), 0) FROM heads LEFT JOIN disk USING (path)
   WHERE heads.rank = 0 AND heads.state = 1 AND heads.type = 1 AND disk.content_key IS NOT heads.content_key) AS missingBytes,
  (SELECT count(*) FROM disk WHERE ino IS NOT NULL AND mode BETWEEN 32768 AND 36863) AS files,
  (SELECT count(*) FROM disk WHERE ino IS NOT NULL AND mode BETWEEN 16384 AND 20479) AS directories,
  (SELECT coalesce(sum(size), 0) FROM disk WHERE ino IS NOT NULL AND mode BETWEEN 32768 AND 36863) AS bytes`;

test('[JN12] the counts of the disk and of what is missing are those of a query after every step', () => {
  const property = fc.property(fc.array(anyStep, { minLength: 1, maxLength: 40 }), (steps) => {
    const path = join(temporaryFolder(), 'journal.db');
    const walk = new Walk(path);
    const sqlite = new SqliteDatabase(path, { readonly: true });
    try {
      const query = sqlite.prepare(counted);
      for (const step of steps) {
        walk.take(step);
        const { missingBytes, disk } = walk.journal.totals.counts();
        expect({ missingBytes, ...disk }).toEqual(query.get());
      }
    } finally {
      sqlite.close();
      walk.journal.close();
    }
  });
  fc.assert(property, { numRuns: 60 });
});

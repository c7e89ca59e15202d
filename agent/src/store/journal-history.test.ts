import { isBelow, isMemberPath, type Operation, type OriginId, parentOf } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextVersion } from '../core/version.ts';
import type { Journal } from '../sync/ports/journal.ts';
import { ant, bee, cat, content, openAnt, pathsOf, show } from './fixtures.contract.ts';

const origins = [ant, bee, cat];
const paths = ['d', 'd/x', 'd/e', 'd/e/y', 'd-', '🐜'];
const all = Number.MAX_SAFE_INTEGER;

/** One step of a history: a member edits a path, or receives from another. */
interface Step {
  readonly by: number;
  readonly path: number;
  readonly kind: 'put' | 'mkdir' | 'delete' | 'hear';
  /** The heads of the path that the edit replaces. */
  readonly parents: 'visible' | 'all' | 'last';
  readonly other: number;
  readonly count: number;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  by: fc.nat(origins.length - 1),
  path: fc.nat(paths.length - 1),
  kind: fc.constantFrom('put', 'put', 'mkdir', 'delete', 'hear', 'hear'),
  parents: fc.constantFrom('visible', 'visible', 'all', 'last'),
  other: fc.nat(origins.length - 1),
  count: fc.integer({ min: 1, max: 4 }),
});

const anyHistory = fc.array(anyStep, { minLength: 1, maxLength: 40 });

function parentsOf(heads: readonly Operation[], which: Step['parents']): readonly Operation[] {
  if (which === 'all') return heads;
  return which === 'last' ? heads.slice(-1) : heads.slice(0, 1);
}

function edit(journal: Journal, origin: OriginId, step: Step): void {
  const path = paths[step.path] ?? 'd';
  const heads = journal.heads.at(path);
  const seq = (journal.log.known()[origin] ?? 0) + 1;
  const own = journal.log
    .rows({ path, limit: all })
    .flatMap(({ operation }) => (operation.origin === origin ? operation : []));
  const version = nextVersion({ origin, seq }, parentsOf(heads, step.parents), [...heads, ...own]);
  const base = { origin, seq, hlc: 1000 + ((seq * 7) % 5), path, version };
  if (step.kind === 'mkdir') journal.append([{ ...base, kind: 'mkdir', mode: 0o755 }]);
  else if (step.kind === 'delete') journal.append([{ ...base, kind: 'delete' }]);
  else journal.append([{ ...base, kind: 'put', content: content(seq % 4), size: seq, mode: 0o644, mtimeUs: 1 }]);
}

/** Every operation that the members of a cluster made in these steps: each origin's, in order. */
function operationsOfHistory(steps: readonly Step[]): readonly (readonly Operation[])[] {
  const members = origins.map(() => openAnt(':memory:'));
  for (const step of steps) {
    const [journal, other, origin] = [members[step.by], members[step.other], origins[step.by]];
    if (journal === undefined || other === undefined || origin === undefined) continue;
    if (step.kind !== 'hear') edit(journal, origin, step);
    else journal.append([...other.log.operationsBeyond(journal.log.known(), all)].flat().slice(0, step.count));
  }
  const made = members.map((journal, index) => journal.log.operationsOf(origins[index] ?? ant, 0, all));
  for (const journal of members) journal.close();
  return made;
}

/** Deliveries of all of them in an order that keeps each origin's, with repetitions. */
function interleaved(made: readonly (readonly Operation[])[], choices: readonly number[]): readonly Operation[] {
  const next = made.map(() => 0);
  const order: Operation[] = [];
  const deliver = (origin: number): void => {
    const operation = made[origin]?.[next[origin] ?? 0];
    if (operation === undefined) return;
    order.push(operation);
    next[origin] = (next[origin] ?? 0) + 1;
  };
  for (const choice of choices) {
    deliver(choice % made.length);
    const again = order[choice % (order.length + 1)];
    if (again !== undefined && choice % 5 === 0) order.push(again);
  }
  made.forEach((operations, origin) => {
    for (let left = operations.length; left > 0; left -= 1) deliver(origin);
  });
  return order;
}

function appendInBatches(journal: Journal, operations: readonly Operation[], size: number): void {
  for (let start = 0; start < operations.length; start += size) journal.append(operations.slice(start, start + size));
}

/** Everything that is kept incrementally, computed by definition from the heads and the disk. */
function expectDerivedToBeRight(journal: Journal): void {
  const visible = journal.heads.under('', undefined, all).filter(({ path }) => !isMemberPath(path));
  const live = visible.filter(({ kind }) => kind !== 'delete');
  const files = live.filter(({ kind }) => kind === 'put');
  const directories = new Set(pathsOf(live.filter(({ kind }) => kind === 'mkdir')));
  const shows = ({ path, origin, seq }: Operation) => {
    const dot = journal.disk.at(path)?.dot;
    return dot?.origin === origin && dot.seq === seq;
  };
  const toMake = live.filter((head) => !shows(head));
  const toRemove = visible.filter(
    (head) => head.kind === 'delete' && !shows(head) && journal.disk.at(head.path)?.fingerprint !== undefined,
  );
  const contested = pathsOf(visible).filter((path) => journal.heads.at(path).length > 1);

  const orphans = live.filter(({ path }) => path.includes('/') && !directories.has(parentOf(path)));
  expect(journal.heads.orphans(undefined, all)).toEqual(orphans);
  for (const path of ['', ...paths]) {
    expect([path, journal.heads.hasLiveBelow(path)]).toEqual([path, live.some((head) => isBelow(head.path, path))]);
  }
  expect(pathsOf(journal.heads.pending({ which: 'live', limit: all }))).toEqual(pathsOf(toMake));
  expect(pathsOf(journal.heads.pending({ which: 'delete', limit: all }))).toEqual(pathsOf(toRemove).toReversed());
  expect(pathsOf(journal.heads.contested(undefined, all))).toEqual(contested);
  expect(journal.totals.counts()).toMatchObject({
    files: files.length,
    directories: directories.size,
    bytes: files.reduce((sum, { size }) => sum + (size ?? 0), 0),
    pending: toMake.length + toRemove.length,
    contested: contested.length,
  });
  const losing = contested.flatMap((path) => journal.heads.at(path).slice(1)).filter(({ kind }) => kind !== 'delete');
  expectAppliedToBeRight(journal, [...toMake, ...toRemove, ...losing]);
}

function expectAppliedToBeRight(journal: Journal, outstanding: readonly Operation[]): void {
  const { vector, ranges } = journal.applied();
  for (const [origin, known] of Object.entries(journal.log.known()) as [OriginId, number][]) {
    const open = new Set(outstanding.filter((head) => head.origin === origin).map(({ seq }) => seq));
    const held = Array.from({ length: known }, (_, index) => index + 1).filter((seq) => !open.has(seq));
    const upTo = vector[origin] ?? 0;
    expect(upTo).toBe(open.size === 0 ? known : Math.min(...open) - 1);
    const inRanges = (ranges[origin] ?? []).flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index),
    );
    expect(inRanges).toEqual(held.filter((seq) => seq > upTo));
  }
}

describe('histories of a cluster', () => {
  test('[JN3] [JN7] any order and repetition of the same operations gives the same heads and digest', () => {
    const choices = fc.array(fc.nat(999), { maxLength: 80 });
    fc.assert(
      fc.property(anyHistory, choices, choices, fc.integer({ min: 1, max: 50 }), (steps, one, other, size) => {
        const made = operationsOfHistory(steps);
        const [left, right] = [openAnt(':memory:'), openAnt(':memory:')];
        appendInBatches(left, interleaved(made, one), 1);
        appendInBatches(right, interleaved(made, other), size);
        for (const path of paths) expect(right.heads.at(path)).toEqual(left.heads.at(path));
        expect(right.totals.digest()).toBe(left.totals.digest());
        expect(right.log.known()).toEqual(left.log.known());
        expect(left.verifyHeads(false).differing).toEqual([]);
        expect(right.verifyHeads(false).differing).toEqual([]);
        left.close();
        right.close();
      }),
      { numRuns: 150 },
    );
  });

  test('values that are kept incrementally agree with the heads and the disk', () => {
    const shown = fc.array(fc.tuple(fc.nat(paths.length - 1), fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(anyHistory, shown, fc.integer({ min: 1, max: 12 }), (steps, checks, size) => {
        const order = interleaved(
          operationsOfHistory(steps),
          steps.map(({ count, path }) => count * 7 + path),
        );
        const journal = openAnt(':memory:');
        let check = 0;
        for (let start = 0; start < order.length; start += size) {
          journal.append(order.slice(start, start + size));
          const [index, forget] = checks[check] ?? [0, true];
          const path = paths[index] ?? 'd';
          const [head] = journal.heads.at(path);
          if (head && !forget) show(journal, head);
          else if (check % 3 === 0) journal.disk.record([{ path, entry: undefined }]);
          check += 1;
          expectDerivedToBeRight(journal);
        }
        const before = [journal.totals.digest(), journal.totals.counts(), journal.heads.orphans(undefined, all)];
        expect(journal.verifyHeads(true).differing).toEqual([]);
        expect([journal.totals.digest(), journal.totals.counts(), journal.heads.orphans(undefined, all)]).toEqual(
          before,
        );
        expectDerivedToBeRight(journal);
        journal.close();
      }),
      { numRuns: 150 },
    );
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

const anyKey = fc.nat(6);
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ set: anyKey }) },
  { weight: 3, arbitrary: fc.record({ get: anyKey }) },
  fc.record({ delete: anyKey }),
  fc.constant('clear' as const),
);

test('returns what was set last, keeps the entries used last, and forgets what is deleted', () => {
  const property = fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
    const min = 3;
    const map = new RecentMap<number, { readonly value: number }>(min);
    const all = new Map<number, { readonly value: number }>();
    /** In order of use, the last one at the end. */
    let used: number[] = [];
    for (const [value, step] of steps.entries()) {
      if (step === 'clear') {
        map.clear();
        all.clear();
        used = [];
      } else if ('delete' in step) {
        map.delete(step.delete);
        all.delete(step.delete);
        used = used.filter((key) => key !== step.delete);
      } else if ('set' in step) {
        map.set(step.set, { value });
        all.set(step.set, { value });
        // An entry that is dropped here does not come back when a later delete makes room.
        used = [...used.filter((key) => key !== step.set), step.set].slice(-min);
      } else {
        const found = map.get(step.get);
        if (found !== undefined || used.includes(step.get)) expect(found).toEqual(all.get(step.get));
        if (found !== undefined) used = [...used.filter((key) => key !== step.get), step.get];
      }
    }
  });
  fc.assert(property);
});

test('drops what was not used between two calls of `age`', () => {
  const map = new RecentMap<string, object>(10);
  const [used, unused] = [{}, {}];
  map.set('used', used);
  map.set('unused', unused);
  map.age();
  expect(map.get('used')).toBe(used);
  map.age();
  expect(map.get('unused')).toBeUndefined();
  expect(map.get('used')).toBe(used);
});

test('holds at most as many entries as it should, and those that were used last', () => {
  const map = new RecentMap<number, object>(10);
  for (let key = 0; key < 1_000; key++) map.set(key, {});
  const held = Array.from({ length: 1_000 }, (_, key) => key).filter((key) => map.get(key) !== undefined);
  expect(held).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
});

test('keeps that there is nothing', () => {
  const map = new RecentMap<string, object | null>(10);
  map.set('none', null);
  map.age();
  expect(map.get('none')).toBeNull();
  expect(map.get('other')).toBeUndefined();
});

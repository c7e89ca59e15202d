import { expect, test } from 'vitest';
import { CompressionRule } from './compression.ts';

const mib = 1_048_576;

test.each<{ name: string; rule: CompressionRule; bytes?: number; rate: number | undefined; wanted: boolean }>([
  { name: 'a slow link', rule: new CompressionRule('auto', false), rate: 1e6, wanted: true },
  { name: 'a fast link', rule: new CompressionRule('auto', false), rate: 110e6, wanted: false },
  { name: 'a link that was never full', rule: new CompressionRule('auto', false), rate: undefined, wanted: false },
  { name: 'a slow link on this machine', rule: new CompressionRule('auto', true), rate: 1e6, wanted: false },
  { name: 'always, on this machine', rule: new CompressionRule('always', true), rate: undefined, wanted: true },
  { name: 'never, on a slow link', rule: new CompressionRule('never', false), rate: 1e6, wanted: false },
  { name: 'a small block', rule: new CompressionRule('always', false), bytes: 4_095, rate: 1e6, wanted: false },
])('[CT27] compression: $name', ({ rule, bytes = mib, rate, wanted }) => {
  expect(rule.wants(bytes, rate)).toBe(wanted);
});

test('[CT27] contents that do not shrink are tried ever less often, and at once again after one that does', () => {
  const rule = new CompressionRule('always', false);
  const tries: boolean[] = [];
  for (let block = 0; block < 300; block++) {
    const isTried = rule.wants(mib, 1e6);
    tries.push(isTried);
    if (isTried) expect(rule.tried(mib, mib - 10)).toBe(false);
  }
  expect(tries.filter(Boolean).length).toBeLessThan(10);
  while (!rule.wants(mib, 1e6));
  expect(rule.tried(mib, mib / 2)).toBe(true);
  expect(rule.wants(mib, 1e6)).toBe(true);
});

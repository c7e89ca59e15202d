import { mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CounterFile, CounterReader } from './counter-file.ts';

let directory: string;
let path: string;
let counters: CounterFile;
let reader: CounterReader;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-counters-'));
  path = join(directory, 'counters');
  counters = new CounterFile(path);
  reader = new CounterReader(path);
});
afterEach(() => {
  counters.close();
  reader.close();
  rmSync(directory, { recursive: true, force: true });
});

test('[OD20] a reader sees that a counter was raised, and others stand still', () => {
  const [a, b] = [counters.of('a'), counters.of('b')];
  expect([reader.isAt(a), reader.isAt(b)]).toEqual([true, true]);
  counters.raise('a');
  expect([reader.isAt(a), reader.isAt(b), reader.isAt(counters.of('a'))]).toEqual([false, true, true]);
  counters.raise('a');
  expect(reader.isAt(a)).toBe(false);
});

test('[OD20] no counter of an earlier run stands at its value after a restart, for a reader that has the file open', () => {
  const before = counters.of('a');
  expect(reader.isAt(before)).toBe(true);
  counters.close();
  counters = new CounterFile(path);
  expect(reader.isAt(before)).toBe(false);
  expect(reader.isAt(counters.of('a'))).toBe(true);
});

test('[OD20] a file that is lost, cut or another one is at no value', () => {
  const value = counters.of('a');
  const other = new CounterReader(join(directory, 'none'));
  expect(other.isAt(value)).toBe(false);
  writeFileSync(join(directory, 'other'), Buffer.alloc(8_192));
  renameSync(join(directory, 'other'), join(directory, 'none'));
  expect(other.isAt(value)).toBe(false);
  other.close();
  truncateSync(path, value.slot * 8 + 4);
  expect(reader.isAt(value)).toBe(false);
});

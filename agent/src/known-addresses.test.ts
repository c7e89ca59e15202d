import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KnownAddresses } from './known-addresses.ts';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let directory = '';
let path = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-addresses-'));
  path = join(directory, 'addresses.json');
});

afterEach(() => rm(directory, { recursive: true }));

test('what was set is read again, without doubles', async () => {
  const { known, addresses } = await KnownAddresses.open(path, quiet);
  expect(addresses).toEqual([]);
  known.set(['b:2', 'a:1']);
  known.set(['b:2', 'a:1', 'b:2']);
  await known.flushed();
  expect((await KnownAddresses.open(path, quiet)).addresses).toEqual(['a:1', 'b:2']);
});

test.each(['', 'not JSON', '{}', '[1]'])('a damaged file (%j) holds no address, and is written anew', async (text) => {
  await writeFile(path, text);
  const { known, addresses } = await KnownAddresses.open(path, quiet);
  expect(addresses).toEqual([]);
  known.set(['a:1']);
  await known.flushed();
  expect(await readFile(path, 'utf8')).toBe('["a:1"]\n');
});

test('a file that cannot be written is no reason to stop', async () => {
  const { known } = await KnownAddresses.open(join(directory, 'absent', 'addresses.json'), quiet);
  known.set(['a:1']);
  await expect(known.flushed()).resolves.toBeUndefined();
});

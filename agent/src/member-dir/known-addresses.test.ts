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

test('the addresses are read again, without duplicates', async () => {
  const said: string[] = [];
  const { known, addresses } = await KnownAddresses.open(path, { ...quiet, warn: (_, what) => said.push(what) });
  expect(addresses).toEqual([]);
  expect(said, 'of a file that is not there yet').toEqual([]);
  known.set(['b:2', 'a:1']);
  known.set(['b:2', 'a:1', 'b:2']);
  await known.flushed();
  expect((await KnownAddresses.open(path, quiet)).addresses).toEqual(['a:1', 'b:2']);
});

test.each(['', 'not JSON', '{}', '[1]', '\0\0'])(
  '[ST5] a damaged file (%j) holds no address, is reported and written again',
  async (text) => {
    await writeFile(path, text);
    const said: string[] = [];
    const log = { ...quiet, warn: (_: object, what: string) => said.push(what) };
    const { known, addresses } = await KnownAddresses.open(path, log);
    expect(addresses).toEqual([]);
    expect(said).toEqual([expect.stringContaining('addresses.json cannot be read or is damaged')]);
    known.set(['a:1']);
    await known.flushed();
    expect(await readFile(path, 'utf8')).toBe('["a:1"]\n');
  },
);

test('a file that cannot be written is no reason to stop', async () => {
  const { known } = await KnownAddresses.open(join(directory, 'absent', 'addresses.json'), quiet);
  known.set(['a:1']);
  await expect(known.flushed()).resolves.toBeUndefined();
});

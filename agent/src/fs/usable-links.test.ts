import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nodeSystemCalls } from './node-system-calls.ts';
import type { EntryStats, SystemCalls } from './system-calls.ts';
import { hasUsableLinks, withoutLinks } from './usable-links.ts';

const system = nodeSystemCalls();

function usable(calls: Partial<SystemCalls>): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-links-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  let given = 0;
  const isUsable = hasUsableLinks({ ...system, ...calls }, () => join(directory, String(++given)));
  expect(readdirSync(directory)).toEqual([]);
  return isUsable;
}

const seenAs = (change: (stats: EntryStats, path: string) => Partial<EntryStats>): Partial<SystemCalls> => ({
  lstat: (path) => {
    const stats = system.lstat(path);
    return stats && Object.assign(stats, change(stats, path));
  },
});

test('[MT4] second names are used where they show the same file', () => {
  expect(usable({})).toBe(true);
  // A call that is refused says so itself.
  expect(usable({ link: withoutLinks(system).link })).toBe(true);
  // mergerfs
  expect(usable(seenAs(({ ino }, path) => ({ ino: ino + path.length + Number(path.endsWith('2')) })))).toBe(false);
  // gocryptfs, as long as the kernel keeps what link(2) answered
  expect(usable(seenAs(({ size, nlink }) => ({ size: size + (nlink > 1 ? 50 : 0) })))).toBe(false);
});

test('[MT4] where they do not, they count as refused', () => {
  expect(() => withoutLinks(system).link('a', 'b')).toThrow(expect.objectContaining({ code: 'EPERM' }));
});

import { expect, test } from 'vitest';
import { runWebServers } from './web-servers.ts';

const pages = Array.from({ length: 12 }, (_, index) => ({
  path: `pages/${index}.html`,
  bytes: 10_000 + 10_000 * index,
}));
const pageBytes = pages.reduce((sum, { bytes }) => sum + bytes, 0);
const servers = 3;
const bytesPerMs = 1_000;

/** Each server begins with another page: servers that lack the same page at the same time all have it from the origin. */
const reads = Array.from({ length: servers }, (_, index) => {
  const own = (index * pages.length) / servers;
  const inTurn = [...pages.slice(own), ...pages.slice(0, own)].map(({ path }) => path);
  return [...inTurn, ...inTurn];
});

function run(cooperate: boolean) {
  return runWebServers({
    ...{ cooperate, pages, reads, readersPerServer: 2 },
    ...{ cacheBytes: 2 * pageBytes, origin: { bytesPerSecond: 1_000 * bytesPerMs, delayMs: 5 } },
  });
}

test('without cooperation the origin sends every page to each server, at its rate', async () => {
  const { ms, originBytes, questions, falseAnswers } = await run(false);
  expect(originBytes).toBe(servers * pageBytes);
  expect([questions, falseAnswers]).toEqual([servers * pages.length, 0]);
  expect(ms).toBeGreaterThan((servers * pageBytes) / bytesPerMs);
  expect(ms).toBeLessThan((2 * servers * pageBytes) / bytesPerMs);
});

test('servers that cooperate have pages from each other, and tell each other what they have', async () => {
  const { originBytes, fetchedBytes, filters, filterBytes } = await run(true);
  expect(originBytes).toBeLessThan(fetchedBytes);
  // Each server and the origin have the filters of the others.
  expect(filters).toBe(servers * servers);
  expect(filterBytes).toBeGreaterThan(0);
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ant, antMember, openAnt, temporaryFolder } from './fixtures.contract.ts';

/** A separate process runs the compiled journal. */
const built = new URL('./journal.js', import.meta.url).href.replace('/src/', '/dist/');

/**
 * Appends without end, in batches of 20 with their rows of disk in one transaction. Prints the last number of each batch once its
 * transaction is committed.
 */
const writer = `
  import { writeSync } from 'node:fs';
  const [built, path, member, origin] = process.argv.slice(1);
  const { openJournal } = await import(built);
  const journal = openJournal({ path, memberId: member, random: () => 0, nowMs: Date.now });
  for (let seq = journal.log.known()[origin] ?? 0; ; seq += 20) {
    const operations = Array.from({ length: 20 }, (_, index) => ({
      origin, seq: seq + index + 1, hlc: seq + index + 1, kind: 'mkdir', mode: 0o755,
      path: 'p' + ((seq + index) % 500), version: { vector: { [origin]: seq + index + 1 } },
    }));
    journal.transaction(() => {
      journal.append(operations);
      journal.disk.record(operations.map(({ path, seq }) => ({ path, entry: { dot: { origin, seq } } })));
    });
    writeSync(1, seq + 20 + '\\n');
  }
`;

/** Lets a writer commit at least `batches` batches, kills it, and returns the last number that it printed. */
async function killedWriter(path: string, batches: number): Promise<number> {
  const parameters = ['--input-type=module', '--eval', writer, built, path, antMember, ant];
  const child: ChildProcess = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const closed = once(child, 'close');
  let told = 0;
  let lines = 0;
  if (child.stdout === null) throw new Error('The writer has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    told = Number(line);
    lines += 1;
    // Lines that are still in the pipe are read to the end: each of them reports a commit.
    if (lines === batches) child.kill('SIGKILL');
  }
  expect(await closed).toEqual([null, 'SIGKILL']);
  return told;
}

describe('kill -9 while the journal is written', () => {
  test('[JN2] nothing that was committed is lost, and no transaction is half there', async () => {
    const path = join(temporaryFolder(), 'journal.db');
    for (const batches of [1, 7, 40, 200]) {
      const told = await killedWriter(path, batches);
      const journal = openAnt(path);
      const known = journal.log.known()[ant] ?? 0;
      expect(told).toBeGreaterThan(0);
      expect(known).toBeGreaterThanOrEqual(told);
      expect(known % 20).toBe(0);
      expect(journal.log.length()).toBe(known);
      expect(journal.totals.counts()).toMatchObject({
        pending: 0,
        directories: Math.min(known, 500),
      });
      expect(journal.applied()).toEqual({ vector: { [ant]: known }, ranges: {} });
      expect(journal.verifyHeads(false).differing).toEqual([]);
      journal.close();
    }
  });
});

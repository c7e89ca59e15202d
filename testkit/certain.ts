import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { eventually } from './eventually.ts';

/**
 * Waits until no path of a member is racy. From then on, differing bytes under an unchanged fingerprint are damage, not an edit in the same
 * tick of the clock as the last recorded change.
 */
export async function untilCertain(member: { state(file: string): string; rescan(): Promise<unknown> }): Promise<void> {
  await eventually(async () => {
    await member.rescan();
    assert.deepEqual(racyPaths(member.state('journal.db')), []);
  });
}

function racyPaths(journal: string): readonly unknown[] {
  const database = new Database(journal, { readonly: true });
  try {
    return database.prepare('SELECT path FROM disk WHERE racy > 0').pluck().all();
  } finally {
    database.close();
  }
}

import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { eventually } from './eventually.ts';

/**
 * Waits until a member is certain of all its files: bytes that differ from then on are damage, no edit of the moment in which a file
 * was put there.
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

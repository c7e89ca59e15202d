import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Library from 'better-sqlite3';
import { eventually } from './eventually.ts';
import { repositoryRoot } from './repository.ts';

/**
 * Waits until no path of a member is racy. From then on, differing bytes under an unchanged fingerprint are damage. They are no edit in the
 * same tick of the clock as the last recorded change.
 */
export async function untilCertain(member: { state(file: string): string; rescan(): Promise<unknown> }): Promise<void> {
  await eventually(async () => {
    await member.rescan();
    assert.deepEqual(await racyPaths(member.state('journal.db')), []);
  });
}

/** The SQLite of the built agent: which package it is depends on the version of Node. */
const sqlite = pathToFileURL(join(repositoryRoot, 'agent', 'dist', 'os', 'sqlite.js')).href;

async function racyPaths(journal: string): Promise<readonly unknown[]> {
  const { SqliteDatabase } = (await import(sqlite)) as { SqliteDatabase: typeof Library };
  const database = new SqliteDatabase(journal, { readonly: true });
  try {
    return database.prepare('SELECT path FROM disk WHERE racy > 0').pluck().all();
  } finally {
    database.close();
  }
}

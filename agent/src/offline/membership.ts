import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadIdentity } from '../member-dir/identity-files.ts';
import { acquireLock } from '../member-dir/instance-lock.ts';
import { statePath } from '../member-dir/state-directory.ts';
import { nodeClock } from '../os/node-clock.ts';
import { openJournal } from '../store/journal.ts';

/** True if the member in `directory`, whose agent does not run, has left its cluster. Rejects if its state cannot be read. */
export async function hasLeft(directory: string): Promise<boolean> {
  const state = statePath(directory);
  const path = join(state, 'journal.db');
  if (!existsSync(path)) return false;
  const lock = await acquireLock(directory, nodeClock.wallMs());
  try {
    const { memberId } = await loadIdentity(state);
    const journal = openJournal({ path, memberId, random: nodeClock.random, nowMs: nodeClock.wallMs });
    try {
      return journal.members.all().some(({ id, membership }) => id === memberId && membership === 'left');
    } finally {
      journal.close();
    }
  } finally {
    await lock.release();
  }
}

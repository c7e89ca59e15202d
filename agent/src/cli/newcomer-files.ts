import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isStateName } from '@lockstep/shared';
import { formatCount, formatItems } from '@lockstep/shared/present';

/** The number of files above which the count ends: the sentence holds for more, too. */
const countedMax = 100_000;

/** A sentence about the effect of the files in a newcomer's folder on an existing cluster; undefined if there are none. */
export async function newcomerSentence(directory: string): Promise<string | undefined> {
  const count = await countFiles(directory);
  if (count === 0) return undefined;
  const which = count > countedMax ? `more than ${formatCount(countedMax)} files` : formatItems(count, 'file');
  return (
    `This folder contains ${which}. Lockstep treats them as new: one that the other members deleted comes back on all of them, and one that ` +
    'differs from theirs becomes a conflict. Move outdated files away before the first start.'
  );
}

async function countFiles(directory: string): Promise<number> {
  let count = 0;
  const waiting = [directory];
  for (let next = waiting.pop(); next !== undefined && count <= countedMax; next = waiting.pop()) {
    // A directory that cannot be read is reported once the agent runs.
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      if (isStateName(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else count++;
    }
  }
  return count;
}

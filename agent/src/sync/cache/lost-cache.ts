import { dotKey, isLive } from '@lockstep/shared';
import { type DiskChange, type DiskEntry, remoteEntry } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;
/** Entries of a disk that is new. */
const madeWithFileSystem = new Set(['lost+found']);

/**
 * Records that the contents of a member that fetches on demand are lost, if its folder is empty: a new disk, or one that a repair has emptied.
 * The other members keep the files, and nothing counts as deleted. Must be called before the folder is scanned.
 */
export async function recordLostCache(context: Context): Promise<void> {
  const { journal, lock, events, log } = context;
  await lock.run(async () => {
    const [first] = journal.disk.below('', undefined, 1);
    if (first === undefined || !(await isEmpty(context))) return;
    let files = 0;
    for (;;) {
      const rows = journal.disk.below('', undefined, rowsAtOnce);
      if (rows.length === 0) break;
      files += rows.filter(({ content }) => content !== undefined).length;
      journal.disk.record(rows.map((row) => lost(context, row)));
    }
    log.warn(
      { files },
      'the folder was found empty: its files are fetched again when they are read, and nothing was deleted',
    );
    events.add('cache-lost', { files });
  });
}

async function isEmpty({ folder, ignored }: Context): Promise<boolean> {
  const skip = (path: string, isDirectory: boolean): boolean =>
    madeWithFileSystem.has(path) || ignored.ignores(path, isDirectory);
  for await (const directories of folder.scan('', { recursive: false, unwatched: true, skip })) {
    for (const { entries, skipped, problem, absent, unreadable = [] } of directories) {
      if (entries.length + skipped.length + unreadable.length > 0 || problem !== undefined || absent) return false;
    }
  }
  return true;
}

/** A file is on other members only; anything else is made again. */
function lost({ journal }: Context, { path, dot, content }: DiskEntry): DiskChange {
  const [head, ...siblings] = journal.heads.at(path);
  const isShown = head !== undefined && isLive(head) && siblings.length === 0 && dotKey(head) === dotKey(dot);
  return isShown && content !== undefined ? remoteEntry(path, head) : { path, entry: undefined };
}

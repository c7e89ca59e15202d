import { entryType, isLive } from '@lockstep/shared';
import type { DiskChange } from '../core/disk-entry.ts';
import type { Context } from './context.ts';

const headsAtOnce = 1_000;

/**
 * After the ignore rules changed: rows of entries that were passed over because they were ignored, and are not any more, are
 * removed, so that the entries count as pending again.
 */
export function unparkIgnored(context: Context): void {
  const { journal, ignored } = context;
  let after: string | undefined;
  for (;;) {
    const heads = journal.headsUnder('', after, headsAtOnce);
    const rows: DiskChange[] = [];
    for (const head of heads) {
      const row = journal.disk(head.path);
      if (row === undefined || row.fingerprint !== undefined || !isLive(head)) continue;
      if (!ignored.ignores(head.path, entryType(head) === 'directory'))
        rows.push({ path: head.path, entry: undefined });
    }
    if (rows.length > 0) journal.recordDisk(rows);
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return;
  }
}

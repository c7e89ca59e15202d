import { type ContentId, dotKey, isLive, memberOf } from '@lockstep/shared';
import type { GreedyDualSize } from '../../core/cache/greedy-dual-size.ts';
import type { DiskEntry } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';

const rowsAtOnce = 1_000;
/** Files whose bytes are not certain that are examined at a time. */
const examinedMax = 256;

/** A file that may be dropped. */
export interface Candidate {
  readonly row: DiskEntry & { readonly content: ContentId };
  readonly size: number;
  readonly isOwn: boolean;
}

/**
 * The files that may be dropped, the one with the least credit first, and the number of those that may be in a moment. `isStuck`: a file
 * could not be removed a while ago.
 */
export function findCandidates(
  context: Context,
  policy: GreedyDualSize,
  isStuck: (path: string) => boolean,
): { readonly candidates: Candidate[]; readonly uncertain: number } {
  const { journal, self } = context;
  const found: Candidate[] = [];
  let uncertain = 0;
  let after: string | undefined;
  for (;;) {
    const rows = journal.disk.below('', after, rowsAtOnce);
    for (const row of rows) {
      const { content, fingerprint } = row;
      if (content === undefined || fingerprint === undefined) continue;
      if (isUncertain(context, row)) {
        uncertain++;
        if (row.racy && uncertain <= examinedMax) context.facts.doubted.publish(row.path);
      }
      if (!mayDrop(context, row) || isStuck(row.path)) continue;
      const isOwn = memberOf(row.dot.origin) === self.id;
      found.push({ row: { ...row, content }, size: fingerprint.size, isOwn });
    }
    after = rows.at(-1)?.path;
    if (rows.length < rowsAtOnce) break;
  }
  const credits = new Map(found.map(({ row: { path } }) => [path, policy.credit(path)]));
  policy.keepOnly((path) => credits.has(path));
  const candidates = found.sort((a, b) => (credits.get(a.row.path) ?? 0) - (credits.get(b.row.path) ?? 0));
  return { candidates, uncertain };
}

/** True for a file that may have changed in the moment in which it was written, or is being read: until that is over it is not dropped. */
function isUncertain({ wanted }: Context, { path, racy, unsynced, unconfirmed, fingerprint }: DiskEntry): boolean {
  if (wanted.mustStay(path) || (fingerprint?.size ?? 0) === 0) return false;
  return Boolean(racy || unsynced || unconfirmed) || wanted.isDemanded(path);
}

/** True for a file that is not needed here, whose bytes are known and durable. */
export function mayDrop({ journal, wanted }: Context, row: DiskEntry): boolean {
  const { path, dot, fingerprint, racy, unsynced, unconfirmed, damaged } = row;
  if (racy || unsynced || unconfirmed || damaged || (fingerprint?.size ?? 0) === 0) return false;
  if (wanted.isDemanded(path) || wanted.mustStay(path)) return false;
  const [head, ...siblings] = journal.heads.at(path);
  return head !== undefined && siblings.length === 0 && isLive(head) && dotKey(head) === dotKey(dot);
}

import type { MemberId } from '@lockstep/shared';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ContentSearch } from '../transfer/content-search.ts';

const rowsAtOnce = 256;
const namedMax = 3;

/** Files that no other member with the whole folder acknowledged, and whose content no other member said that it keeps. */
export interface OnlyHere {
  readonly files: number;
  readonly bytes: number;
  /** Some of them. */
  readonly paths: readonly string[];
}

/** The files on this disk that no other member keeps. One that fetches contents on demand acknowledges names alone: it is asked. */
export async function findOnlyHere(
  { journal, others: holders }: Context,
  { peers, search }: { readonly peers: Peers; readonly search: ContentSearch },
): Promise<OnlyHere> {
  const whole = peers.all().filter(({ id, state }) => state !== 'left' && !peers.isOnDemand(id));
  const silent = new Set<MemberId>();
  const found = { files: 0, bytes: 0, paths: [] as string[] };
  for (let after: string | undefined; ; ) {
    const rows = journal.disk.below('', after, rowsAtOnce);
    const sought = rows.flatMap(({ path, content, fingerprint, dot }) => {
      if (content === undefined || !fingerprint?.size) return [];
      const isHeld = dot !== undefined && whole.some(({ id }) => holders.isHeldBy(id, dot));
      return isHeld ? [] : [{ path, content, size: fingerprint.size }];
    });
    const keepers = await search.searchKeepers(sought, silent);
    for (const { path, size } of sought) {
      if (keepers.has(path)) continue;
      found.files++;
      found.bytes += size;
      if (found.paths.length < namedMax) found.paths.push(path);
    }
    after = rows.at(-1)?.path;
    if (after === undefined || rows.length < rowsAtOnce) return found;
  }
}

import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ContentSearch } from '../transfer/content-search.ts';

const rowsAtOnce = 256;
const namedMax = 3;

/** Files whose content no other member said that it keeps. */
export interface OnlyHere {
  readonly files: number;
  readonly bytes: number;
  /** Some of them. */
  readonly paths: readonly string[];
}

/**
 * The files on this disk that no other member keeps. Only in a cluster in which every other member fetches contents on demand: one with the
 * whole folder has all that it acknowledged.
 */
export async function findOnlyHere(
  { journal }: Context,
  { peers, search }: { readonly peers: Peers; readonly search: ContentSearch },
): Promise<OnlyHere> {
  const others = peers.all().filter(({ state }) => state !== 'left');
  const found = { files: 0, bytes: 0, paths: [] as string[] };
  if (others.length === 0 || others.some(({ id }) => !peers.isOnDemand(id))) return found;
  for (let after: string | undefined; ; ) {
    const rows = journal.diskBelow('', after, rowsAtOnce);
    const sought = rows.flatMap(({ path, content, fingerprint }) =>
      content === undefined || !fingerprint?.size ? [] : [{ path, content, size: fingerprint.size }],
    );
    const keepers = await search.searchKeepers(sought);
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

import { dotKey, type Operation } from '@lockstep/shared';
import type { Action } from '../../core/plan/action.ts';
import { type CurrentVersion, withCurrent } from '../integrity/current-version.ts';
import { missingParents } from '../integrity/placing.ts';
import type { Context } from '../state/context.ts';
import { type AccessParts, settledRefusal } from './access-parts.ts';
import { type Refused, refused } from './condition.ts';

/** The entry at a path on which journal and disk agree, and the directories that are missing above it. */
export interface Place {
  readonly current: Exclude<CurrentVersion, { readonly problem: string }> | RemoteVersion;
  readonly parents: readonly Action[];
}

/** The present version of a file that this member fetches on demand, and does not have now. */
export interface RemoteVersion {
  readonly operation: Operation;
  readonly isRemote: true;
}

/** Resolves with the current state of a path. */
export type PlaceAt = (path: string) => Promise<Place | Refused>;

/** The changes that may come in between: more than there are requests to write at once. */
const attemptsMax = 40;

/**
 * Runs `change` under the folder lock, once the changes at `paths` are journaled. If another change came in between, that one is journaled
 * first, and `change` runs again. So of two requests for the same version the second one learns the version that the first one made.
 */
export async function changeSettled<T extends object>(
  parts: AccessParts,
  paths: readonly string[],
  change: (placeAt: PlaceAt) => Promise<T | Refused>,
): Promise<T | Refused> {
  const { context } = parts;
  for (let attempt = 1; ; attempt++) {
    for (const path of paths) {
      const unsettled = await settledRefusal(parts, path);
      if (unsettled !== undefined) return unsettled;
    }
    const result = await withCurrent(context, paths, (currentAt) =>
      change(async (path) => {
        const parents = await missingParents(context, path);
        if (typeof parents === 'string') return refused('not-written', parents);
        const remote = await remoteVersion(context, path);
        if (remote !== undefined) return { current: remote, parents };
        // A missing directory has no entries, and nothing below it may be observed.
        if (parents.length > 0) return { current: { operation: undefined }, parents };
        const current = await currentAt(path);
        if (!('problem' in current)) return { current, parents };
        // An ignored path is never journaled.
        const isUnjournaled = current.isUnjournaled === true && !context.ignored.ignores(path, false);
        return { ...refused('not-written', current.problem), isUnjournaled };
      }),
    );
    const isUnjournaled = 'isUnjournaled' in result && result.isUnjournaled === true;
    if (!isUnjournaled || attempt === attemptsMax) return result;
  }
}

async function remoteVersion({ journal, folder }: Context, path: string): Promise<RemoteVersion | undefined> {
  const row = journal.disk.at(path);
  const [head, ...siblings] = journal.heads.at(path);
  if (row?.remote !== true || head === undefined || siblings.length > 0 || dotKey(head) !== dotKey(row.dot))
    return undefined;
  const [seen] = await folder.observe([{ path }]);
  return seen?.state === 'absent' ? { operation: head, isRemote: true } : undefined;
}

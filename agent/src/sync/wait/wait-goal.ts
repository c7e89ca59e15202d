import { type Dot, type OriginId, parentOf, type VersionVector } from '@lockstep/shared';
import { conflictPath, copyPrefix, isConflictPath } from '../../core/conflict-name.ts';
import type { Context } from '../state/context.ts';
import type { Goal } from './replica-count.ts';

const headsAtOnce = 1_000;
/** Above this number of heads below a path, the newest operation of each origin stands for all of them. */
const dotsMax = 10_000;
const copiesMax = 64;

/**
 * The goal for the entries on this disk at or below `path` now. It includes the conflict copies of the path. If the heads differ from
 * the entry that this disk still shows, it also includes an operation with that content: a copy just made, or a new name.
 */
export function goalOf(context: Context, path: string | undefined): Goal {
  const { journal } = context;
  if (path === undefined || path === '') return { vector: journal.log.known() };
  const dots: Dot[] = journal.heads.at(path).map(toDot);
  dots.push(...copiesOf(context, path));
  const isLevel = journal.totals.counts().pending === 0;
  let after: string | undefined;
  for (;;) {
    const heads = journal.heads.under(path, after, headsAtOnce);
    for (const head of heads) {
      dots.push(toDot(head));
      const shown = isLevel ? undefined : journal.disk.at(head.path)?.content;
      if (shown === undefined || shown === head.content) continue;
      const elsewhere = journal.heads.withContent(shown);
      if (elsewhere) dots.push(toDot(elsewhere));
    }
    after = heads.at(-1)?.path;
    if (heads.length < headsAtOnce) return { dots };
    if (dots.length > dotsMax) return { vector: highest(dots) };
  }
}

function copiesOf({ journal }: Context, path: string): readonly Dot[] {
  const prefix = copyPrefix(conflictPath(path, 0, ''));
  const under = journal.heads.under(parentOf(path), prefix, copiesMax);
  return under.filter((head) => head.path.startsWith(prefix) && isConflictPath(head.path)).map(toDot);
}

function toDot({ origin, seq }: Dot): Dot {
  return { origin, seq };
}

function highest(dots: readonly Dot[]): VersionVector {
  const vector: Record<OriginId, number> = {};
  for (const { origin, seq } of dots) vector[origin] = Math.max(seq, vector[origin] ?? 0);
  return vector;
}

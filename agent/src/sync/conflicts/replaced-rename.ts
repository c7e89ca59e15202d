import type { Operation } from '@lockstep/shared';
import type { Journal } from '../ports/journal.ts';

/** Names that a file had before: a file that is renamed more often is followed no further. */
const renamesMax = 20;
/** Operations at each of these names that are examined, the newest first. */
const operationsMax = 1_000;

/**
 * True for the rename of a file on one member that a user of another member overwrote or deleted under an earlier name: so that content is one
 * that a user no longer wanted.
 */
export function isRenameOfReplaced(journal: Pick<Journal, 'log'>, renamed: Operation): boolean {
  const { origin, content } = renamed;
  if (content === undefined) return false;
  let { from } = renamed;
  for (let names = 0; from !== undefined && names < renamesMax; names++) {
    const rows = journal.log.rows({ path: from, beforeRow: Number.MAX_SAFE_INTEGER, limit: operationsMax });
    if (rows.some(({ operation }) => operation.replaced === content && operation.origin !== origin)) return true;
    from = rows.find(({ operation }) => operation.content === content)?.operation.from;
  }
  return false;
}

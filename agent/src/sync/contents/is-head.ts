import { type Dot, dotKey } from '@lockstep/shared';
import type { Journal } from '../ports/journal.ts';

/** True if the operation at this path is a head, visible or not: no other supersedes it. */
export function isHead(journal: Pick<Journal, 'heads'>, operation: Dot & { readonly path: string }): boolean {
  const key = dotKey(operation);
  return journal.heads.at(operation.path).some((head) => dotKey(head) === key);
}

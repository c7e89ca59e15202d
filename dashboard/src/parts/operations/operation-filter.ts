import type { LoggedOperation } from '@lockstep/shared/api';
import { authorOf } from '@lockstep/shared/present';

/** The filter of the feed; an empty field lets every operation through. */
export interface OperationFilter {
  /** Part of the path; case is ignored. */
  readonly text: string;
  readonly kind: string;
  /** Id of the author. */
  readonly member: string;
}

export const everyOperation: OperationFilter = { text: '', kind: '', member: '' };

export function isEveryOperation({ text, kind, member }: OperationFilter): boolean {
  return text === '' && kind === '' && member === '';
}

/** Whether the filter lets an operation through. */
export function passes(operation: LoggedOperation, { text, kind, member }: OperationFilter): boolean {
  if (member !== '' && authorOf(operation).member !== member) return false;
  if (kind !== '' && actOf(operation) !== kind) return false;
  if (text === '') return true;
  const wanted = text.toLowerCase();
  return operation.path.toLowerCase().includes(wanted) || (operation.from?.toLowerCase().includes(wanted) ?? false);
}

/** The effect of an operation, by which the feed names and filters it. */
export type Act = 'added' | 'changed' | 'renamed' | 'deleted' | 'attributes' | 'conflict' | 'member';

export const acts: Readonly<Record<Act, string>> = {
  added: 'Added',
  changed: 'Changed',
  renamed: 'Renamed',
  deleted: 'Deleted',
  attributes: 'Mode or time',
  conflict: 'Conflict',
  member: 'Member',
};

export function actOf({ kind, from, replaced, conflict }: LoggedOperation): Act {
  if (conflict !== undefined) return 'conflict';
  if (kind === 'delete') return 'deleted';
  if (kind === 'attr') return 'attributes';
  if (kind === 'member') return 'member';
  if (from !== undefined) return 'renamed';
  return replaced === undefined ? 'added' : 'changed';
}

import type { LoggedOperation } from '@lockstep/shared/api';

/** Which operations the feed shows; an empty part asks for nothing. */
export interface OperationFilter {
  /** Part of the path, in any case of letters. */
  readonly text: string;
  readonly kind: string;
  /** Id of the member that made it. */
  readonly member: string;
}

export const everyOperation: OperationFilter = { text: '', kind: '', member: '' };

export function isEveryOperation({ text, kind, member }: OperationFilter): boolean {
  return text === '' && kind === '' && member === '';
}

/** Whether the filter lets an operation through. */
export function passes(operation: LoggedOperation, { text, kind, member }: OperationFilter): boolean {
  if (member !== '' && operation.member !== member) return false;
  if (kind !== '' && actOf(operation) !== kind) return false;
  if (text === '') return true;
  const wanted = text.toLowerCase();
  return operation.path.toLowerCase().includes(wanted) || (operation.from?.toLowerCase().includes(wanted) ?? false);
}

/** What an operation did, in the words that the feed and its filter use. */
export type Act = 'added' | 'changed' | 'renamed' | 'deleted' | 'attributes' | 'member';

export const acts: Readonly<Record<Act, string>> = {
  added: 'Added',
  changed: 'Changed',
  renamed: 'Renamed',
  deleted: 'Deleted',
  attributes: 'Mode or time',
  member: 'Member',
};

export function actOf({ kind, from, replaced }: LoggedOperation): Act {
  if (kind === 'delete') return 'deleted';
  if (kind === 'attr') return 'attributes';
  if (kind === 'member') return 'member';
  if (from !== undefined) return 'renamed';
  return replaced === undefined ? 'added' : 'changed';
}

import type { OperationReport } from '../api.ts';

/** The member to name as the author of an operation. One that settled a conflict only repeats what another member wrote. */
export function authorOf(operation: OperationReport): { readonly member: string; readonly memberName: string } {
  return operation.conflict === undefined ? operation : (operation.writer ?? operation);
}

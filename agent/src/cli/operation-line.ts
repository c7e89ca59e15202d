import type { LoggedOperation, OperationReport } from '@lockstep/shared/api';
import { formatBytes, formatItems } from '@lockstep/shared/present';
import { formatMoment, printable } from './format.ts';
import type { Paint } from './terminal.ts';

function mode(operation: OperationReport): string {
  return operation.mode === undefined ? '' : `, mode ${operation.mode.toString(8).padStart(3, '0')}`;
}

/** An operation in a few words. */
export function describeOperation(operation: OperationReport): string {
  const path = printable(operation.path);
  if (operation.from !== undefined) return `renamed ${printable(operation.from)} to ${path}`;
  switch (operation.kind) {
    case 'put': {
      const size = operation.size === undefined ? '' : ` (${formatBytes(operation.size)})`;
      return `${operation.replaced === undefined ? 'wrote' : 'changed'} ${path}${size}`;
    }
    case 'mkdir':
      return `made directory ${path}`;
    case 'symlink':
      return `linked ${path} to ${printable(operation.target ?? '')}`;
    case 'attr':
      return `set times or permissions of ${path}${mode(operation)}`;
    case 'delete':
      return `removed ${path}`;
    case 'member':
      return operation.standing === 'left' ? 'left the cluster' : 'joined the cluster or changed its address';
  }
}

/** Groups consecutive operations of the log that belong together (the rename of a directory, an unpacked archive). */
export function groupOperations(operations: readonly LoggedOperation[]): readonly (readonly LoggedOperation[])[] {
  const groups: LoggedOperation[][] = [];
  for (const operation of operations) {
    const last = groups.at(-1);
    const first = last?.[0];
    const together =
      first !== undefined &&
      operation.group !== undefined &&
      first.origin === operation.origin &&
      (first.group ?? first.seq) === operation.group;
    if (together) last?.push(operation);
    else groups.push([operation]);
  }
  return groups;
}

/** One line of `lockstep log`. */
export function formatOperations(group: readonly LoggedOperation[], paint: Paint): string {
  const [first] = group;
  if (first === undefined) return '';
  const more = group.length > 1 ? paint('dim', ` and ${formatItems(group.length - 1, 'more operation')} with it`) : '';
  return `${paint('dim', formatMoment(first.at))}  ${paint('cyan', first.memberName.padEnd(8))}  ${describeOperation(first)}${more}`;
}

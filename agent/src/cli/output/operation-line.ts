import type { LoggedOperation, OperationReport } from '@lockstep/shared/api';
import { authorOf, formatBytes, formatItems } from '@lockstep/shared/present';
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
      if (operation.conflict?.version === 'kept') return `wrote ${path}${size}, which was kept in a conflict`;
      if (operation.conflict?.version === 'copied') return `wrote what is now ${path}${size}`;
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
      return memberDeed(operation, path);
  }
}

/** The path of such an operation is the name of the member that it is about. */
function memberDeed({ membership, path, memberName }: OperationReport, name: string): string {
  if (path !== memberName) return membership === 'left' ? `removed the member ${name}` : `took the member ${name} back`;
  return membership === 'left'
    ? 'left the cluster'
    : 'joined the cluster, or changed its address, its room or a rule for copies';
}

/**
 * Groups operations of the log that belong together (the rename of a directory, an unpacked archive). Operations of other members may have
 * arrived in between.
 */
export function groupOperations(operations: readonly LoggedOperation[]): readonly (readonly LoggedOperation[])[] {
  const groups: LoggedOperation[][] = [];
  const newest = new Map<string, LoggedOperation[]>();
  for (const operation of operations) {
    const last = newest.get(operation.origin);
    const first = last?.[0];
    if (first !== undefined && operation.group !== undefined && groupOf(first) === operation.group) {
      last?.push(operation);
    } else {
      const group = [operation];
      groups.push(group);
      newest.set(operation.origin, group);
    }
  }
  return groups;
}

function groupOf({ group, seq }: LoggedOperation): number {
  return group ?? seq;
}

/** True if the group begins with its first operation. */
export function isWhole([first]: readonly LoggedOperation[]): boolean {
  return first !== undefined && groupOf(first) === first.seq;
}

/** One line of `lockstep log`. */
export function formatOperations(group: readonly LoggedOperation[], paint: Paint): string {
  const [first] = group;
  if (first === undefined) return '';
  const more = group.length > 1 ? paint('dim', ` and ${formatItems(group.length - 1, 'more operation')} with it`) : '';
  return `${paint('dim', formatMoment(first.at))}  ${paint('cyan', authorOf(first).memberName.padEnd(8))}  ${describeOperation(first)}${more}`;
}

import { memberPath, type Operation } from '@lockstep/shared';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Context } from '../state/context.ts';

/** Puts this member's entry into the member list, unless it is there. Returns the operation that says so. */
export function announce(
  { journal, self }: Context,
  operationWriter: OperationWriter,
  standing: 'joined' | 'left',
): Operation | undefined {
  const path = memberPath(self.id);
  const heads = journal.heads(path);
  const [known] = heads;
  const member = { id: self.id, name: self.name, addresses: self.addresses, standing };
  if (heads.length === 1 && JSON.stringify(known?.member) === JSON.stringify(member)) return known;
  return operationWriter.commit([{ path, kind: 'member', member, parents: heads }]).operations[0];
}

import { type MemberRecord, memberPath, type Operation } from '@lockstep/shared';
import { isSameRecord } from '../../core/chain.ts';
import type { Context } from '../state/context.ts';
import type { OperationWriter } from './operation-writer.ts';

/** The fields of this member's record that change while it runs; the settings give the rest. */
export type RecordChange = Partial<Pick<MemberRecord, 'membership' | 'room' | 'copies'>>;

/** The record of this member as the member list has it; undefined before its first start. */
export function ownRecord({ journal, self }: Context): MemberRecord | undefined {
  return journal.heads.at(memberPath(self.id))[0]?.member;
}

/** Writes the record of this member into the member list, unless it is there already. Returns the operation of the entry. */
export function writeOwnRecord(
  { journal, self }: Context,
  operationWriter: OperationWriter,
  change: RecordChange,
): Operation | undefined {
  const path = memberPath(self.id);
  const heads = journal.heads.at(path);
  const [known] = heads;
  const { id, name, addresses, mayBeAway, onDemand } = self;
  const { membership = 'joined', copies } = { ...known?.member, ...change };
  // A member with the whole folder has room for all.
  const room = onDemand && (change.room ?? known?.member?.room);
  const member: MemberRecord = {
    ...{ id, name, addresses, membership },
    ...(mayBeAway && { mayBeAway }),
    ...(onDemand && { onDemand }),
    ...(room !== undefined && { room }),
    ...(copies !== undefined && { copies }),
  };
  if (heads.length === 1 && known?.member !== undefined && isSameRecord(known.member, member)) return known;
  return operationWriter.commit([{ path, kind: 'member', member, parents: heads }]).operations[0];
}

import { type MemberRecord, memberPath } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { writeOwnRecord } from './own-record.ts';

/** A member on demand whose journal has this record of it. */
function started(record: (id: MemberRecord['id']) => MemberRecord) {
  const ant = new LoneMember(undefined, { onDemand: true });
  const path = memberPath(ant.id);
  const operation = { ...ant.operation(path, { kind: 'member' }), member: record(ant.id) };
  ant.received(operation);
  return { ant, operation, records: () => ant.journal.heads.at(path).map(({ member }) => member) };
}

test('[UP3] a record whose fields a migrated journal has in another order is not journaled again', () => {
  const { ant, operation } = started((id) => ({
    ...{ id, name: 'ant', addresses: [], onDemand: true, room: 9 },
    ...{ copies: [{ at: 7, pattern: '*.iso', copies: 2 }], membership: 'joined' },
  }));
  expect(writeOwnRecord(ant.context, ant.operationWriter, {})?.seq).toBe(operation.seq);
  expect(ant.journal.log.known()[operation.origin]).toBe(operation.seq);
});

test('[MB15] a record is journaled when one of its fields changed', () => {
  const { ant, operation, records } = started((id) => ({
    ...{ id, name: 'ant', addresses: [], membership: 'joined', onDemand: true, room: 9 },
  }));
  writeOwnRecord(ant.context, ant.operationWriter, { room: 10 });
  expect(ant.journal.log.known()[operation.origin]).toBe(operation.seq + 1);
  expect(records()).toMatchObject([{ room: 10, membership: 'joined' }]);
});

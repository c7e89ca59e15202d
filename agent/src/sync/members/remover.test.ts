import { type MemberId, memberPath, originId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { stampMs } from '../../core/hlc.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { leftAt, removerOf } from './remover.ts';

test('[DB-O1] a member left when it said so, also for a member that was started afterwards', () => {
  const ant = new LoneMember();
  const id = 'b'.repeat(52) as MemberId;
  const entry = (membership: 'joined' | 'left') => {
    const operation = ant.operation(memberPath(id), { kind: 'member' }, { origin: originId(id, 'aaaaaaaa') });
    return { ...operation, member: { id, name: 'bee', addresses: [], membership } };
  };
  ant.received(entry('joined'));
  expect(leftAt(ant.journal, id)).toBeUndefined();
  const left = entry('left');
  ant.received(left);
  expect(leftAt(ant.journal, id)).toBe(stampMs(left.hlc));
  expect(removerOf(ant.journal, id)).toBeUndefined();
});

import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { PathProblems } from './path-problems.ts';

const bee = 'bee' as OriginId;

/** A member that was told of a file whose content nobody has, while others know more than it. */
function behind() {
  const member = new LoneMember();
  const put = member.operation('file', { kind: 'put', text: 'gone' }, { origin: bee });
  member.received(put);
  const others = { knowMore: true };
  const troubles = new PathProblems(member.context, () => others.knowMore);
  const report = (): void => troubles.report('file', put, 'content-missing', 'Nobody has it.');
  const reported = (): readonly string[] => member.context.problems.list().map(({ code, path }) => `${code} ${path}`);
  report();
  return { member, put, others, troubles, report, reported };
}

test('[MT18] what nobody has is not reported while what replaced it may be on its way', () => {
  const { member, put, others, troubles, reported } = behind();
  troubles.withdraw();
  expect(reported()).toEqual([]);
  member.received(member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] }));
  others.knowMore = false;
  troubles.withdraw();
  expect(reported()).toEqual([]);
});

test('[MT18] what nobody has, and is still wanted when all is known, is reported', async () => {
  const { member, others, troubles, reported } = behind();
  others.knowMore = false;
  await member.passes(6_000);
  troubles.withdraw();
  expect(reported()).toEqual(['content-missing file']);
});

test('[MT18] what nobody has is not reported while who replaced it may be about to journal that', async () => {
  const { member, put, others, troubles, report, reported } = behind();
  others.knowMore = false;
  await member.passes(4_000);
  report();
  troubles.withdraw();
  expect(reported()).toEqual([]);
  member.received(member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] }));
  await member.passes(2_000);
  troubles.withdraw();
  expect(reported()).toEqual([]);
});

test('[MT18] others that make operations without end keep it back for half a minute', async () => {
  const { member, troubles, report, reported } = behind();
  await member.passes(29_000);
  report();
  troubles.withdraw();
  expect(reported()).toEqual([]);
  await member.passes(2_000);
  report();
  expect(reported()).toEqual(['content-missing file']);
});

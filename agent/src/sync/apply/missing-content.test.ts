import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

test('[MT18] a path that shows nothing and waits for lost content names a way out that is possible', async () => {
  const member = new LoneMember();
  const { context, journal } = member;
  member.received(member.operation('file', { kind: 'put', text: 'gone' }, { origin: 'bee' as OriginId }));
  new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => [])).poke();
  await member.passes(10_000);
  const { code, detail } = context.problems.ofPath('file') ?? {};
  expect(code).toBe('content-missing');
  expect(detail).toMatch(/put a file there, or put an empty one there and delete it\.$/);
});

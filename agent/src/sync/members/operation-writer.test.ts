import { clockSkewMsMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { stampMs } from '../../core/hlc.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { OperationWriter } from './operation-writer.ts';

test('[JN6] a stamp that lies years ahead does not carry the operations after a restart ahead', () => {
  const member = new LoneMember();
  const { context, journal } = member;
  const future = { ...new LoneMember().operation('ahead', { kind: 'mkdir' }), hlc: Number.MAX_SAFE_INTEGER - 5 };
  const own = { ...future, origin: journal.origin, version: { vector: { [journal.origin]: 1 } } };
  journal.append([own]);
  const restarted = new OperationWriter(context, { ensure: () => undefined });
  const wallMs = context.clock.wallMs();
  const { operations } = restarted.commit([{ path: 'now', kind: 'mkdir', mode: 0o755, parents: [] }]);
  expect(operations).toHaveLength(1);
  expect(stampMs(operations[0]?.hlc ?? Number.NaN)).toBeLessThanOrEqual(wallMs + clockSkewMsMax + 1);
  expect(member.errors).toEqual([]);
});

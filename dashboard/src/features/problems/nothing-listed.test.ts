import type { Status } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { nothingListed } from './nothing-listed.ts';

type Known = Parameters<typeof nothingListed>[0];

function status(more: Partial<Known>, condition: Status['members'][number]['condition'] = 'active'): Known {
  const bee = { name: 'bee', condition } as Status['members'][number];
  const member = { name: 'ant' } as Status['member'];
  return { member, members: [bee], paused: false, conflictCopies: 0, ...more };
}

test('[DB-P2] a view of problems without any says that all is well only if this member can know it', () => {
  expect(nothingListed(status({})).title).toBe('Nothing needs your attention');
  expect(nothingListed(status({ conflictCopies: 2 })).title).toBe('No problem');
  expect(nothingListed(status({ paused: true }, 'unknown'))).toMatchObject({
    title: 'ant is paused',
    text: expect.stringContaining('cannot say whether one has a problem'),
  });
  for (const condition of ['unknown', 'silent'] as const) {
    expect(nothingListed(status({}, condition))).toEqual({
      title: 'No problem is known',
      text: 'ant has no problem, but does not hear bee at the moment.',
    });
  }
});

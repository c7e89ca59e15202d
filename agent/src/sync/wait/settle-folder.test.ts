import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { settle } from './settle-folder.ts';

// A batch of directories a thousand levels deep took longer than the command waits for an answer.
test('[AK5] a wait whose time is over does not wait for a long action in the folder', async () => {
  const member = new LoneMember();
  const { context } = member;
  const parts = {
    context,
    localChanges: { settleAll: async () => ({ unsettled: [], unread: [] }) },
    mounts: { check: async () => undefined, reason: () => undefined },
    lifecycle: { isLeaving: false },
  };
  let end = (): void => undefined;
  const action = context.lock.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const settling = settle(parts, undefined, Promise.resolve(), () => true);
  await member.passes(2_000);
  const ended = await Promise.race([settling, member.passes(1_000)]);
  expect(ended).toMatchObject([{ memberName: context.self.name, reason: expect.stringContaining('Wait again') }]);
  end();
  await action;
});

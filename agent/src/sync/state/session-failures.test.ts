import { LockstepError, type MemberId, removalReason } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import {
  differingReason,
  replacedReason,
  replacingReason,
  type SessionEnd,
  SessionFailures,
  sealedReason,
  unjournaledReason,
} from './session-failures.ts';

const bee = 'bee' as MemberId;
const fault = { reason: 'invalid frame: x', isFault: true, lastedMs: 20 };
const short = { reason: 'the connection was lost', isFault: false, lastedMs: 20 };

describe('[SY20] sessions that fail repeatedly', () => {
  let member: LoneMember;
  let failures: SessionFailures;

  beforeEach(() => {
    member = new LoneMember();
    failures = new SessionFailures(member.context.clock, member.context.problems);
  });

  const codes = (): readonly string[] => member.context.problems.list().map(({ code }) => code);

  test('with a fault: the second one is a problem, and the waits grow to a minute', async () => {
    failures.ended(bee, 'bee', fault);
    expect([failures.areAny, failures.dialWaitMs(bee), codes()]).toEqual([false, 0, []]);
    const waits: number[] = [];
    for (let count = 0; count < 12; count++) {
      failures.ended(bee, 'bee', fault);
      const waitMs = failures.dialWaitMs(bee);
      waits.push(waitMs);
      expect(failures.areAny).toBe(true);
      expect(failures.refusal(bee)).toMatch(/sessions failed; the next is taken in \d+ s$/);
      // The other side, whose wait may be one step shorter, is not refused when it dials.
      await member.passes(waitMs / 4);
      expect(failures.refusal(bee)).toBeUndefined();
      await member.passes(waitMs);
      expect(failures.dialWaitMs(bee)).toBe(0);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
    expect(waits[0]).toBeLessThan(waits.at(-1) ?? 0);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(30_000);
    expect(codes()).toEqual(['session-failing']);
  });

  test('after lost connections: the problem also holds while a new session works, and names an agent that keeps ending', () => {
    for (let count = 0; count < 5; count++) failures.ended(bee, 'bee', short);
    const [problem] = member.context.problems.list();
    // A session that is open, and did not last yet, exchanges what it can.
    expect(problem?.detail).not.toContain('exchange nothing');
    expect(problem?.detail).toContain('whether the agent of bee ends repeatedly');
  });

  test.each([
    ['this member', replacedReason],
    ['bee', replacingReason],
  ])('because two agents run as %s: the problem says so, and what to do', (who, reason) => {
    for (let count = 0; count < 5; count++) failures.ended(bee, 'bee', { ...short, reason });
    expect(member.context.problems.list()).toMatchObject([
      { code: 'session-failing', detail: expect.stringContaining(`Two agents may run as ${who}`) },
    ]);
  });

  test.each([replacedReason, replacingReason])('%s: sessions of 20 s are short too', async (reason) => {
    for (let count = 0; count < 5; count++) {
      failures.ended(bee, 'bee', { reason, isFault: false, lastedMs: 20_000 });
      await member.passes(20_000);
    }
    expect([failures.areAny, codes()]).toEqual([true, ['session-failing']]);
  });

  test.each([
    [new LockstepError('journal-full', 'There is no room.'), 'Free some space on the disk of its .lockstep'],
    [new LockstepError('journal-disk', 'It cannot be read.'), 'See its problems and its log'],
  ])('because operations cannot be journaled: what to do is not the network', (error, advice) => {
    const reason = unjournaledReason('bee', error);
    for (let count = 0; count < 5; count++) failures.ended(bee, 'bee', { ...short, reason });
    const [problem] = member.context.problems.list();
    expect(problem?.detail).toContain(`(5 times): ${reason}. Until`);
    expect(problem?.detail).toContain(advice);
    expect(problem?.detail).not.toContain('..');
  });

  test('because the disk of the journal fails: the reason is whole on the wire', () => {
    const sentence = `The journal /srv/${'shared/'.repeat(12)}journal.db cannot be written because of its disk (disk I/O error).`;
    const error = new LockstepError('journal-disk', sentence, { cause: new Error('disk I/O error') });
    expect(unjournaledReason('bee', error)).toBe('bee cannot write its journal: disk I/O error');
  });

  test.each([differingReason, sealedReason])(
    'because of a fork that is not repaired: what to do is not the network',
    (reason) => {
      for (let count = 0; count < 5; count++) failures.ended(bee, 'bee', { ...short, reason });
      expect(member.context.problems.list()).toMatchObject([
        { code: 'session-failing', detail: expect.stringMatching(/set back to a snapshot.* move journal\.db\*/) },
      ]);
    },
  );

  test('because this member was removed: the first one is a problem, which says so and what to do', () => {
    failures.ended(bee, 'bee', { ...fault, reason: removalReason('ant', 'cat') });
    expect(failures.areAny).toBe(true);
    const [problem] = member.context.problems.list();
    expect(problem?.detail).toMatch(
      /^bee refuses this member: removed from the cluster by ant; .* lockstep remove --undo cat\. /,
    );
    expect(problem?.detail).not.toContain('version');
  });

  test('for one other reason in quick succession: the fifth is a problem; goodbyes, long sessions and other reasons are none', async () => {
    for (let count = 0; count < 4; count++) failures.ended(bee, 'bee', short);
    failures.ended(bee, 'bee', { ...short, reason: 'another' });
    for (let count = 0; count < 4; count++) failures.ended(bee, 'bee', short);
    failures.ended(bee, 'bee', { ...short, lastedMs: 60_000 });
    for (let count = 0; count < 4; count++) failures.ended(bee, 'bee', short);
    await member.passes(61_000);
    failures.ended(bee, 'bee', short);
    expect([failures.areAny, codes()]).toEqual([false, []]);
    for (let count = 0; count < 4; count++) failures.ended(bee, 'bee', short);
    expect([failures.areAny, codes()]).toEqual([true, ['session-failing']]);
    expect(failures.dialWaitMs(bee)).toBeLessThanOrEqual(10_000);
  });

  test('with another code of the system each time, as on a line that damages bytes: it is one reason', () => {
    const codes = ['ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'ECONNRESET'];
    for (let count = 0; count < 5; count++)
      failures.ended(bee, 'bee', { ...short, reason: `the connection was lost (${codes[count % 2]})` });
    expect(failures.areAny).toBe(true);
    expect(failures.dialWaitMs(bee)).toBeGreaterThan(0);
  });

  test.each<[string, SessionEnd]>([
    ['for another reason', { ...short, reason: 'another' }],
    ['for a fault', fault],
    ['after 20 s', { ...short, lastedMs: 20_000 }],
  ])('once they fail, one that ends %s is a further failure, and does not end the waits', async (_, end) => {
    for (let count = 0; count < 5; count++) failures.ended(bee, 'bee', short);
    await member.passes(20_000);
    failures.ended(bee, 'bee', end);
    expect([failures.areAny, codes()]).toEqual([true, ['session-failing']]);
    expect(failures.dialWaitMs(bee)).toBeGreaterThanOrEqual(3_000);
  });

  test('are cleared by a session that lasts, and forgotten without further attempts', async () => {
    for (let count = 0; count < 3; count++) failures.ended(bee, 'bee', fault);
    failures.over(bee);
    expect([failures.areAny, codes(), failures.dialWaitMs(bee)]).toEqual([false, [], 0]);
    for (let count = 0; count < 3; count++) failures.ended(bee, 'bee', fault);
    await member.passes(200_000);
    failures.expire();
    expect([failures.areAny, codes()]).toEqual([false, []]);
  });
});

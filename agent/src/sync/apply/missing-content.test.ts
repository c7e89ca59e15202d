import { type MemberId, memberPath, type Operation, type OriginId, type WantMessage } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { blockOf, virtualContent } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

const mebibyte = 1_048_576;

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

test('[MT18] a report of lost content names the members that left with it, next to those that are away', async () => {
  const member = new LoneMember();
  const { context, journal } = member;
  const bee = 'b'.repeat(52) as MemberId;
  const cat = 'c'.repeat(52) as MemberId;
  const enters = (id: MemberId, name: string, membership: 'joined' | 'left'): Operation => ({
    ...member.operation(memberPath(id), { kind: 'member' }, { origin: `${id}.1` as OriginId }),
    member: { id, name, addresses: [], membership },
  });
  member.received(
    enters(bee, 'bee', 'joined'),
    enters(cat, 'cat', 'left'),
    member.operation('file', { kind: 'put', text: 'gone' }, { origin: `${cat}.1` as OriginId }),
  );
  member.peers.learn();
  member.peers.refreshStates();
  new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => [])).poke();
  await member.passes(10_000);
  expect(context.problems.ofPath('file')?.detail).toContain(
    'It arrives when a member that has it is back, or a member that left with it takes part again; bee or cat may have it.',
  );
});

/** Bee told a member of a large file and lacks its content, until `asked` is set: then it collects the requests for blocks. */
async function lacking() {
  const bee = new ScriptedPeer('b');
  const film = virtualContent('film', 20 * mebibyte);
  const { id: content, size, blocks } = film;
  const file = { kind: 'put', mode: 0o644, mtimeUs: 0, content, size, ...(blocks && { blocks }) } as const;
  const { origin } = bee;
  const put: Operation = { origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } }, ...file };
  const asked: WantMessage[] = [];
  const serves = { isOn: false };
  const pulse = (): void => {
    bee.say({ type: 'pulse', id: 1_000, wallMs: 0, sends: serves.isOn });
    scheduler.after(1_000, pulse);
  };
  const lack = ({ id }: WantMessage): void => bee.say({ type: 'missing', id, lacks: true, shows: false });
  const send = ({ id, index }: WantMessage): void => bee.say({ type: 'block', id, bytes: blockOf(film, index) });
  bee.answer = (message) => {
    if (message.type !== 'want') return;
    if (serves.isOn) asked.push(message);
    else lack(message);
  };
  const { engine, journal, scheduler, until, volume } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  bee.known = { [origin]: 1 };
  bee.sayOperations([put]);
  expect(await until(() => engine.context.missing.isAt('film'), 5_000)).toBe(true);
  return {
    ...{ engine, until, asked, lack, send, serves, pulse },
    isReported: (): boolean => engine.context.problems.has('content-missing', { path: 'film' }),
    reports: (): number => journal.events.after(0, 1_000).filter(({ kind }) => kind === 'problem').length,
    isThere: (): boolean => volume.disk.at('film') !== undefined,
  };
}

test('[MT18] a missing content is reported no more once a block of it has come, and again if the rest is missing', async () => {
  const { engine, until, asked, lack, send, serves, isReported, isThere } = await lacking();
  expect(await until(isReported, 30_000)).toBe(true);
  expect(engine.applyLoop.reason('film')).toContain('No reachable member');
  serves.isOn = true;
  expect(await until(() => asked.length > 0, 20_000)).toBe(true);
  expect(await until(() => !isReported(), 3_000)).toBe(false);
  send(asked.shift() as WantMessage);
  expect(await until(() => !isReported(), 1_000)).toBe(true);
  expect(engine.applyLoop.reason('film')).toBe('its content is being fetched');
  expect(engine.context.missing.reportedBelow('')).toEqual([]);
  serves.isOn = false;
  for (const want of asked.splice(0)) lack(want);
  expect(await until(isReported, 30_000)).toBe(true);
  serves.isOn = true;
  while (!isThere()) {
    expect(await until(() => asked.length > 0 || isThere(), 20_000)).toBe(true);
    for (const want of asked.splice(0)) send(want);
  }
  expect(await until(() => !isReported(), 1_000)).toBe(true);
});

test('[MT18] a missing content stays reported while no member answers with a block of it', async () => {
  const { until, isReported, reports } = await lacking();
  expect(await until(isReported, 30_000)).toBe(true);
  expect(await until(() => !isReported(), 120_000)).toBe(false);
  expect(reports()).toBe(1);
});

test('[MT18] a missing content is not reported while the member that was asked for it says that it sends', async () => {
  const { until, asked, lack, serves, pulse, isReported } = await lacking();
  serves.isOn = true;
  pulse();
  expect(await until(() => asked.length > 0, 5_000)).toBe(true);
  expect(await until(isReported, 20_000)).toBe(false);
  serves.isOn = false;
  for (const want of asked.splice(0)) lack(want);
  expect(await until(isReported, 30_000)).toBe(true);
});

import { type MemberId, memberPath, type Operation, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { WriteBack } from '../durability/write-back.ts';
import { Confirmer } from '../integrity/confirmer.ts';
import { Mounts } from '../integrity/mounts.ts';
import { LocalChanges } from '../local/local-changes.ts';
import type { Peer } from '../members/peer.ts';
import type { Link } from '../ports/network.ts';
import { ContentSearch } from '../transfer/content-search.ts';
import { type WaitOutcome, waitForDurability } from './wait.ts';

const bee = 'bee' as MemberId;
const origin = 'bee.1' as OriginId;
const timeoutMs = 10_000;
const notAborted = (): boolean => false;

function partsOf(
  ant: LoneMember,
  localChanges = new LocalChanges(ant.context, ant.operationWriter),
): Parameters<typeof waitForDurability>[0] {
  const { context, peers } = ant;
  return {
    context,
    peers,
    search: new ContentSearch(context, peers),
    copies: { mostWanted: 0, wantedOf: () => 'all' },
    localChanges,
    writeBack: new WriteBack(context),
    confirmer: new Confirmer(context, () => false),
    mounts: new Mounts(context),
    applyLoop: { reason: () => undefined },
    dialer: { unmet: () => [] },
    lifecycle: { isLeaving: false },
  };
}

/** Ant waits for both members. It knows two operations of bee, which was restored from a snapshot: its log may fork above the first. */
async function waiting(): Promise<{
  readonly ant: LoneMember;
  readonly peer: Peer;
  readonly cut: Operation;
  readonly outcome: Promise<WaitOutcome>;
  readonly isOver: () => boolean;
}> {
  const ant = new LoneMember();
  const record = { id: bee, name: 'bee', addresses: [], membership: 'joined' } as const;
  const joined = { ...ant.operation(memberPath(bee), { kind: 'member' }, { origin }), member: record };
  const cut = ant.operation('gone', { kind: 'delete' }, { origin });
  ant.received(joined, cut);
  ant.peers.learn();
  const peer = ant.peers.get(bee) as Peer;
  const parts = partsOf(ant);
  let isOver = false;
  const outcome = waitForDurability(parts, { for: 'all', timeoutMs }, notAborted).finally(() => {
    isOver = true;
  });
  await ant.passes(1_000);
  return { ant, peer, cut, outcome, isOver: () => isOver };
}

test('[AK5] a wait that ends without a member that refuses this one says why, and does not ask to start it', async () => {
  const ant = new LoneMember();
  const address = '127.0.0.1:4701';
  const record = { id: bee, name: 'bee', addresses: [address], membership: 'joined' } as const;
  ant.received({ ...ant.operation(memberPath(bee), { kind: 'member' }, { origin }), member: record });
  ant.peers.learn();
  (ant.peers.get(bee) as Peer).stopped = true;
  const refusal = `No session with ${address}: the dialler speaks protocol 14, the listener 13: upgrade Lockstep on the listener.`;
  ant.context.problems.set('member-refused', { member: address }, refusal);
  const outcome = waitForDurability(partsOf(ant), { for: 'all', timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  const { blocking } = await outcome;
  expect(blocking.map(({ memberName, reason }) => ({ memberName, reason }))).toEqual([
    { memberName: 'bee', reason: `bee is not heard: ${refusal}` },
  ]);
});

test('[AK5] a newcomer that was refused by the only member that it knows says why', async () => {
  const ant = new LoneMember();
  const address = '127.0.0.1:4701';
  const refusal = `No session with ${address}: the cluster keys differ: compare .lockstep/cluster.key on both members.`;
  ant.context.problems.set('member-refused', { member: address }, refusal);
  const parts = { ...partsOf(ant), dialer: { unmet: () => [address] } };
  const outcome = waitForDurability(parts, { for: 'all', timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  const reason = `ant has not met another member yet, so it is not known which must have it: ${refusal}`;
  expect(await outcome).toMatchObject({ done: false, blocking: [{ memberName: 'ant', reason }] });
});

test('[AK20] a wait that ends during the second read of a file names that file', async () => {
  const ant = new LoneMember();
  const parts = partsOf(ant);
  const readNow: Confirmer['readNow'] = (_path, { begins }) => {
    begins?.('file');
    return new Promise(() => undefined);
  };
  Object.assign(parts.confirmer, { readNow });
  ant.volume.disk.write('file', contentOfText('read twice'));
  const outcome = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  expect((await outcome).blocking).toEqual([
    expect.objectContaining({
      path: 'file',
      reason: expect.stringMatching(/^file is being read again on this member/),
    }),
  ]);
});

test('[FK3] [FK5] a wait continues across a seal: it ends when all hold the operations that were journaled again', async () => {
  const { ant, peer, outcome, isOver } = await waiting();
  // Bee has another operation under the second number: it does not count.
  peer.known = { [origin]: 2 };
  peer.applied = { vector: { [origin]: 1 }, ranges: {} };
  await ant.passes(1_000);
  expect(isOver()).toBe(false);

  const { journal } = ant;
  journal.transaction(() => ant.operationWriter.repeat(journal.seal(origin, 1)));
  expect(journal.log.known()).toEqual({ [origin]: 1, [journal.origin]: 1 });
  peer.known = { [origin]: 1 };
  await ant.passes(1_000);
  expect(isOver(), 'while bee lacks the one journaled again').toBe(false);

  peer.known = journal.log.known();
  peer.applied = { vector: journal.log.known(), ranges: {} };
  await ant.passes(1_000);
  expect(isOver()).toBe(true);
  expect(await outcome).toMatchObject({ done: true, holding: 2 });
});

test('[FK3] [FK6] a wait that a seal does not end names the blocking operations at the timeout', async () => {
  const { ant, peer, cut, outcome } = await waiting();
  const { journal } = ant;
  journal.transaction(() => ant.operationWriter.repeat(journal.seal(origin, 1)));
  peer.known = { [origin]: 1 };
  peer.applied = { vector: { [origin]: 1 }, ranges: {} };
  await ant.passes(timeoutMs);
  expect(await outcome).toMatchObject({ done: false, holding: 1, blocking: [{ path: cut.path, member: bee }] });
});

test('[SY20] a wait says of a member whose sessions fail what to do, and not to start it', async () => {
  const { ant, outcome } = await waiting();
  const end = { reason: 'replaced by a newer session', isFault: false, lastedMs: 1_000 };
  for (let attempt = 0; attempt < 5; attempt++) ant.peers.failures.ended(bee, 'bee', end);
  await ant.passes(timeoutMs);
  const reason = expect.stringMatching(/^Sessions with bee keep failing .*Two agents may run as this member/);
  expect(await outcome).toMatchObject({ done: false, blocking: [{ member: bee, reason }] });
});

test('[AK5] a wait at a member that is stopping says so, and does not report unexamined changes as durable', async () => {
  const ant = new LoneMember();
  const { context } = ant;
  const localChanges = new LocalChanges(context, ant.operationWriter);
  const started = localChanges.start();
  await ant.passes(3_000);
  await started;
  ant.volume.disk.write('file', contentOfText('text'));
  localChanges.stop();
  const parts = { ...partsOf(ant, localChanges), lifecycle: { isLeaving: true } };
  const outcome = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
  await ant.passes(1_000);
  expect(await outcome).toMatchObject({ done: false, blocking: [{ reason: expect.stringContaining('is stopping') }] });
});

test('[AK5] a wait ends only when every directory could be listed, and names the others', async () => {
  const ant = new LoneMember();
  const { context, volume } = ant;
  const localChanges = new LocalChanges(context, ant.operationWriter);
  const started = localChanges.start();
  await ant.passes(3_000);
  await started;
  const parts = partsOf(ant, localChanges);
  volume.disk.mkdir('closed');
  volume.disk.write('closed/file', contentOfText('text'));
  volume.disk.chmod('closed', 0o300);
  const inVain = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  expect(await inVain).toMatchObject({
    done: false,
    blocking: [{ path: 'closed', reason: expect.stringContaining('cannot be read') }],
  });
  const outcome = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
  await ant.passes(1_000);
  volume.disk.chmod('closed', 0o700);
  await ant.passes(timeoutMs);
  expect(await outcome).toMatchObject({ done: true });
  expect(context.journal.heads.at('closed/file')).toHaveLength(1);
});

test('[AK5] a wait examines a directory that only another scan could list', async () => {
  const ant = new LoneMember();
  const { context, volume } = ant;
  const localChanges = new LocalChanges(context, ant.operationWriter);
  const started = localChanges.start();
  await ant.passes(3_000);
  await started;
  volume.disk.mkdir('closed', 0o300);
  // A large file is not read before it has rested for a moment.
  volume.disk.write('film', virtualContent('film', 3_000_000));
  let heads: unknown;
  const parts = partsOf(ant, localChanges);
  const outcome = waitForDurability(parts, { for: 1, timeoutMs }, notAborted).finally(() => {
    heads = context.journal.heads.at('closed/film');
  });
  await ant.passes(30);
  volume.disk.write('closed/film', virtualContent('closed/film', 3_000_000));
  volume.disk.chmod('closed', 0o700);
  localChanges.scan('closed', true);
  await ant.passes(timeoutMs);
  expect(await outcome).toMatchObject({ done: true });
  expect(heads).toHaveLength(1);
});

test('[AK5] a wait examines the folder after an exchanged disk is accepted, also if that happens between its two looks', async () => {
  const ant = new LoneMember();
  const { context, volume } = ant;
  const localChanges = new LocalChanges(context, ant.operationWriter);
  const started = localChanges.start();
  await ant.passes(3_000);
  await started;
  let looks = 0;
  const mounts = {
    check: () => {
      looks += 1;
      return Promise.resolve();
    },
    reason: () => (looks < 2 ? 'Another disk is mounted there.' : undefined),
  };
  let settled = 0;
  const scan = {
    settleAll: (path: string, giveUp: Promise<void>) => {
      settled += 1;
      return localChanges.settleAll(path, giveUp);
    },
  };
  volume.disk.write('file', contentOfText('text'));
  const parts = { ...partsOf(ant, localChanges), localChanges: scan, mounts };
  const outcome = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
  await ant.passes(timeoutMs);
  expect(await outcome).toMatchObject({ done: true });
  expect(settled).toBe(1);
  expect(context.journal.heads.at('file')).toHaveLength(1);
});

test('[AK5] a wait names each path of this member that has a problem, not only the first operation of their author', async () => {
  const ant = new LoneMember();
  const { context } = ant;
  const puts = ['one', 'two'].map((path) => ant.operation(path, { kind: 'put', text: path }, { origin }));
  ant.received(...puts);
  for (const { path } of puts) context.problems.set('path-in-the-way', { path }, `A pipe is at ${path}.`);
  const outcome = waitForDurability(partsOf(ant), { for: 1, timeoutMs: 1_000 }, notAborted);
  await ant.passes(3_000);
  const { done, blocking } = await outcome;
  expect(done).toBe(false);
  expect(blocking.map(({ path, reason }) => [path, reason])).toEqual([
    ['one', 'A pipe is at one.'],
    ['two', 'A pipe is at two.'],
  ]);
});

test('[AK5] [IG4] a wait examines the folder again if its rules have changed meanwhile', async () => {
  const ant = new LoneMember();
  const { ignored } = ant.context;
  ignored.take('*.tmp\n');
  let settled = 0;
  const scan = {
    settleAll: () => {
      settled += 1;
      if (settled === 1) ignored.take('');
      return Promise.resolve({ unsettled: [], unread: [] });
    },
  };
  const outcome = waitForDurability({ ...partsOf(ant), localChanges: scan }, { for: 1, timeoutMs }, notAborted);
  await ant.passes(1_000);
  expect(await outcome).toMatchObject({ done: true });
  expect(settled).toBe(2);
});

test.each(['all', 'majority'] as const)(
  '[AK3] a newcomer that has not met another member has nothing durable for %s',
  async (who) => {
    const ant = new LoneMember();
    let unmet: readonly string[] = ['bee.example:4700'];
    const parts = { ...partsOf(ant), dialer: { unmet: () => unmet } };
    const alone = waitForDurability(parts, { for: who, timeoutMs: 1_000 }, notAborted);
    await ant.passes(2_000);
    const reason = expect.stringMatching(
      /^ant has not met another member yet, .*: none answers at bee\.example:4700\.$/,
    );
    expect(await alone).toMatchObject({ done: false, blocking: [{ memberName: 'ant', reason }] });
    const itself = waitForDurability(parts, { for: 1, timeoutMs }, notAborted);
    await ant.passes(5_000);
    expect(await itself).toMatchObject({ done: true });
    const later = waitForDurability(parts, { for: who, timeoutMs }, notAborted);
    await ant.passes(500);
    unmet = [];
    await ant.passes(5_000);
    expect(await later).toMatchObject({ done: true, members: 1 });
  },
);

test('[AK3] a wait does not count a peer that opened a session, as a probe does, and did not join', async () => {
  const ant = new LoneMember();
  const link: Partial<Link> = { peer: bee, dialled: false, receivedBytes: () => 0 };
  expect(() => ant.peers.accept(link as Link)).toThrow('a lone member sends no hello');
  const outcome = waitForDurability(partsOf(ant), { for: 'all', timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  expect(await outcome).toMatchObject({ done: true, members: 1 });
});

test('[AK3] a wait names a lost member by its id if another one has the same name, as lockstep remove takes it', async () => {
  const ids = ['b'.repeat(52), 'c'.repeat(52)] as MemberId[];
  const ant = new LoneMember();
  for (const id of ids) {
    const record = { id, name: 'bee', addresses: [], membership: 'joined' } as const;
    ant.received({ ...ant.operation(memberPath(id), { kind: 'member' }, { origin }), member: record });
  }
  const outcome = waitForDurability(partsOf(ant), { for: 'all', timeoutMs }, notAborted);
  await ant.passes(timeoutMs + 1_000);
  const advised = (await outcome).blocking.map(({ member, reason }) => [
    member,
    /lockstep remove (\S+) retires/.exec(reason)?.[1],
  ]);
  expect(new Map(advised as [string, string][])).toEqual(
    new Map([
      [ids[0], 'bbbbbbbb'],
      [ids[1], 'cccccccc'],
    ]),
  );
});

test.each([
  ['all', 1],
  ['majority', 1],
  [1, undefined],
] as const)(
  '[OD8] a wait for %s next to a member on demand says how many members have the whole folder',
  async (count, whole) => {
    const ant = new LoneMember();
    const record = { id: bee, name: 'bee', addresses: [], membership: 'joined', onDemand: true } as const;
    ant.received({ ...ant.operation(memberPath(bee), { kind: 'member' }, { origin }), member: record });
    ant.peers.learn();
    const peer = ant.peers.get(bee) as Peer;
    peer.known = { [origin]: 1 };
    peer.applied = { vector: { [origin]: 1 }, ranges: {} };
    const outcome = waitForDurability(partsOf(ant), { for: count, timeoutMs }, notAborted);
    await ant.passes(2_000);
    const { blocking, elapsedMs, ...counts } = await outcome;
    expect(counts).toEqual({ done: true, wanted: 1, holding: 1, members: 2, whole });
  },
);

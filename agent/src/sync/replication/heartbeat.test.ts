import { blockBytes } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { directoriesOf, openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { contentOfText, virtualContent } from '../../sim/disk/content.ts';

test('[MB1] a message that takes long to arrive is no silence; 10 s without a byte are', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, scheduler, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  bee.beats = false;
  const trickle = () => {
    bee.partialBytes += 1_000;
    if (bee.partialBytes < 30_000) scheduler.after(1_000, trickle);
  };
  trickle();
  expect(await until(() => bee.ends.length > 0, 29_000)).toBe(false);
  expect(await until(() => bee.ends.length > 0, 13_000)).toBe(true);
  expect(bee.ends).toEqual(['nothing was heard from it for more than 10 s']);
});

test('[MB22] the round trip is the time until the echo comes, less the time for which the peer held it', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, scheduler, until } = openTestMember([bee]);
  bee.beats = false;
  bee.answer = (message) => {
    if (message.type !== 'heartbeat' && message.type !== 'pulse') return;
    const { id } = message;
    scheduler.after(400, () => bee.say({ ...bee.heartbeat(), echo: { id, heldMs: 400 } }));
    scheduler.after(450, () => bee.say({ type: 'pulse', id: 1, wallMs: 0, echo: { id, heldMs: 0 } }));
    scheduler.after(500, () => bee.say(bee.heartbeat()));
  };
  void engine.start();
  const peer = () => engine.peers.all()[0];
  expect(await until(() => bee.all('pulse').length > 5, 20_000)).toBe(true);
  // Each direction takes 1 ms. Of several echoes of one heartbeat the first counts.
  expect(peer()?.rttMs).toBeCloseTo(2, 0);
  expect(peer()?.rttPeakMs).toBeLessThan(5);
  expect(bee.all('pulse').at(-1)?.echo?.heldMs).toBeGreaterThan(400);
});

test('[MB5] a heartbeat that would repeat the last one is a pulse, until something changes and at least every 5 s', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, scheduler, volume, until } = openTestMember([bee]);
  void engine.start();
  const heartbeats = () => bee.all('heartbeat');
  expect(await until(() => heartbeats().length > 1 && bee.all('pulse').length > 20, 60_000)).toBe(true);
  const beats = bee.heard.filter(({ type }) => type === 'heartbeat' || type === 'pulse').slice(-20);
  expect(beats.filter(({ type }) => type === 'heartbeat').length).toBeGreaterThanOrEqual(3);
  expect(beats.filter(({ type }) => type === 'heartbeat').length).toBeLessThanOrEqual(5);

  const files = heartbeats().at(-1)?.files ?? 0;
  volume.disk.write('new', contentOfText('of this second'));
  const changedMs = scheduler.nowMs;
  expect(await until(() => heartbeats().at(-1)?.files === files + 1, 20_000)).toBe(true);
  expect(scheduler.nowMs - changedMs).toBeLessThan(3_000);
});

test('[MB5] in a large cluster pulses are sent every 4 s, news within the second, and a peer is suspect 2 s later', async () => {
  const peers = [...'bcdefghijklmnopqr'].map((letter) => new ScriptedPeer(letter));
  const bee = peers[0] as ScriptedPeer;
  const { engine, scheduler, volume, until } = openTestMember(peers);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active' && engine.peers.size === 18, 20_000)).toBe(true);
  expect(await until(() => bee.all('pulse').length > 3, 60_000)).toBe(true);
  const beats = () => bee.heard.filter(({ type }) => type === 'heartbeat' || type === 'pulse').length;
  const before = beats();
  const reports = () => bee.all('heartbeat').length;
  const reportsBefore = reports();
  expect(await until(() => beats() === before + 5, 60_000)).toBe(true);
  const beganMs = scheduler.nowMs;
  expect(await until(() => beats() === before + 10, 60_000)).toBe(true);
  expect((scheduler.nowMs - beganMs) / 5).toBeGreaterThan(3_900);
  expect((scheduler.nowMs - beganMs) / 5).toBeLessThan(4_100);
  expect(reports() - reportsBefore, 'every 20 s').toBe(2);

  const files = bee.all('heartbeat').at(-1)?.files ?? 0;
  volume.disk.write('new', contentOfText('of this second'));
  const changedMs = scheduler.nowMs;
  expect(await until(() => bee.all('heartbeat').at(-1)?.files === files + 1, 20_000)).toBe(true);
  expect(scheduler.nowMs - changedMs).toBeLessThan(3_000);

  bee.beats = false;
  const silentMs = scheduler.nowMs;
  const peer = engine.peers.get(bee.id);
  expect(await until(() => peer?.state === 'suspect', 20_000)).toBe(true);
  expect(scheduler.nowMs - silentMs).toBeGreaterThan(5_000);
  expect(scheduler.nowMs - silentMs).toBeLessThan(8_000);
});

test('[CT5] heartbeats and pulses say that blocks for the peer wait for a limit', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, volume, until } = openTestMember([bee]);
  const film = virtualContent('film', 2 * blockBytes);
  volume.disk.write('film', film);
  void engine.start();
  expect(await until(() => engine.context.journal.totals.counts().disk.files === 1, 20_000)).toBe(true);
  engine.context.limits.send.limit([{ bytesPerSecond: blockBytes / 30 }]);
  for (const index of [0, 1]) bee.say({ type: 'want', id: index, content: film.id, index, path: 'film' });
  const lastSends = () => bee.heard.findLast(({ type }) => type === 'heartbeat' || type === 'pulse');
  expect(await until(() => bee.all('block').length === 1 && lastSends()?.type === 'pulse', 5_000)).toBe(true);
  expect(lastSends()).toMatchObject({ sends: true });
  expect(await until(() => bee.all('block').length === 2, 31_000)).toBe(true);
  expect(await until(() => bee.heard.at(-1)?.type === 'pulse', 5_000)).toBe(true);
  expect(lastSends()).not.toHaveProperty('sends');
});

test('[FK8] a digest that differs under equal numbers leads to the comparison of all logs, and a fork is repaired', async () => {
  const bee = new ScriptedPeer('b');
  const { origin } = bee;
  bee.known = { [origin]: 3 };
  bee.answer = (message) => {
    if (message.type !== 'pull') return;
    bee.sayOperations(directoriesOf(bee, 1, 3));
    bee.say({ type: 'pulled', id: message.id, total: 3, done: true });
  };
  const { engine, journal, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => journal.log.known()[origin] === 3 && engine.lifecycle.state === 'active', 20_000)).toBe(
    true,
  );
  // It sends no marks with its numbers, so that no log was compared yet. Its third operation is another one.
  bee.known = journal.log.known();
  expect(await until(() => bee.all('fork').length === Object.keys(bee.known).length, 20_000)).toBe(true);
  const report = bee.all('fork').find((one) => one.origin === origin);
  expect(report?.seqs).toEqual([3, 2, 1]);
  expect(Buffer.from(report?.marks ?? []).toString('hex')).toBe(
    [3, 2, 1].map((seq) => journal.log.mark(origin, seq)).join(''),
  );
  expect(engine.context.problems.list()).toMatchObject([{ code: 'digest-mismatch' }]);
  bee.say({ type: 'sealed', origins: { [origin]: 2 } });
  expect(await until(() => journal.seals.all()[origin] === 2, 5_000)).toBe(true);
  expect(journal.heads.at('b3')).toMatchObject([{ kind: 'mkdir', origin: journal.origin }]);
  expect(bee.ends).toEqual([]);
});

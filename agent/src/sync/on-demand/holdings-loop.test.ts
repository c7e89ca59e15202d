import type { MemberId, Operation, PeerMessage } from '@lockstep/shared';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTestMember, ScriptedPeer, type TestMember } from '../../../test/support/scripted-peer.ts';
import { CountedHoldings } from '../../core/cache/counted-holdings.ts';
import { HoldingsFilter } from '../../core/cache/holdings-filter.ts';
import { blockOf, type Content, contentOfText, virtualContent } from '../../sim/disk/content.ts';
import { openJournal } from '../../store/journal.ts';

const mebibyte = 1_048_576;
const short = virtualContent('film', 100_000);

/** The message of a member that holds these contents. */
function holdingsOf(...contents: readonly Content[]): PeerMessage {
  const counted = new CountedHoldings(contents.length);
  for (const { id } of contents) counted.add(id);
  return { type: 'holdings', seq: 1, bits: counted.bits() };
}

function putOf({ origin }: ScriptedPeer, { id, size, blocks }: Content): Operation {
  const put = { origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } } };
  return { ...put, kind: 'put', mode: 0o644, mtimeUs: 0, content: id, size, blocks } as Operation;
}

/** The marks of a member whose journal has only this operation. */
function marksOf(operation: Operation): Uint8Array {
  const memberId = 'y'.repeat(52) as MemberId;
  const journal = openJournal({ path: ':memory:', memberId, random: () => 0, nowMs: () => 0 });
  onTestFinished(() => journal.close());
  journal.append([operation]);
  return journal.log.marks();
}

interface Film {
  readonly holds: string;
  readonly tells: string | undefined;
  readonly content?: Content;
}

/**
 * A member on demand and others on demand that show a film. Bee made it and dropped it later. Each of `tells` tells that it holds the film, each
 * of the others that it does not; with `tells` undefined no member tells anything. Those in `holds` have it.
 */
async function film({ holds, tells, content = short }: Film) {
  const peers = [...'bcdefg'].map((letter) => new ScriptedPeer(letter));
  const [bee] = peers as [ScriptedPeer];
  const member: TestMember = openTestMember(peers, { onDemand: true });
  const asked: string[] = [];
  for (const peer of peers) {
    peer.onDemand = true;
    const letter = peer.id.slice(0, 1);
    peer.answer = (message) => {
      if (message.type !== 'want') return;
      const { id, index } = message;
      asked.push(letter);
      if (holds.includes(letter)) peer.say({ type: 'block', id, bytes: blockOf(content, index) });
      else peer.say({ type: 'missing', id, lacks: true, shows: true });
    };
  }
  void member.engine.start();
  const { engine, until } = member;
  expect(await until(() => engine.peers.ready().length === 6, 10_000)).toBe(true);
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const operation = putOf(bee, content);
  const marks = marksOf(operation);
  for (const peer of peers) {
    peer.known = { [bee.origin]: 1 };
    peer.say({ type: 'ack', known: peer.known, marks, applied: { vector: peer.known, ranges: {} } });
    if (tells !== undefined) peer.say(tells.includes(peer.id.slice(0, 1)) ? holdingsOf(content) : holdingsOf());
  }
  bee.sayOperations([operation]);
  expect(await until(() => engine.onDemand.isRemote('film'), 5_000)).toBe(true);
  await until(() => false, 1_000);
  asked.length = 0;
  const fetched = engine.onDemand.fetch('film');
  let isOver = false;
  void fetched.then(() => {
    isOver = true;
  });
  expect(await until(() => isOver, 20_000)).toBe(true);
  return { ...member, asked, fetched: await fetched };
}

describe('[OD16] a reader', () => {
  test('asks only the member that told that it holds the content', async () => {
    const { asked, fetched, engine } = await film({ holds: 'f', tells: 'f' });
    expect(fetched).toEqual({ isHere: true });
    expect(asked).toEqual(['f']);
    expect([engine.totals.contentQuestions, engine.totals.falseFilterAnswers]).toEqual([1, 0]);
  });

  test('asks only those that told that they hold a large content, each for a part', async () => {
    const content = virtualContent('film', 24 * mebibyte);
    const { asked, fetched, engine } = await film({ holds: 'fg', tells: 'fg', content });
    expect(fetched).toEqual({ isHere: true });
    expect(new Set(asked)).toEqual(new Set('fg'));
    expect(engine.totals.contentQuestions).toBe(2);
  });

  test('asks one after the other if none told what it holds', async () => {
    const { asked, fetched } = await film({ holds: 'g', tells: undefined });
    expect(fetched).toEqual({ isHere: true });
    expect(asked.length).toBeGreaterThan(1);
  });

  test('asks one member more for a false answer', async () => {
    const { asked, fetched, engine } = await film({ holds: 'f', tells: 'cf' });
    expect(fetched).toEqual({ isHere: true });
    expect(asked).toEqual(['c', 'f']);
    expect([engine.totals.contentQuestions, engine.totals.falseFilterAnswers]).toEqual([2, 1]);
  });

  test('asks the origin first, and then all others, if all told that they lack the content', async () => {
    const { asked, fetched, engine } = await film({ holds: 'g', tells: '' });
    expect(fetched).toEqual({ isHere: true });
    expect(asked[0]).toBe('b');
    expect(asked.at(-1)).toBe('g');
    expect(engine.totals.falseFilterAnswers).toBe(0);
  });

  test('hears that no member has the content only after all were asked', async () => {
    const { asked, fetched } = await film({ holds: '', tells: 'c' });
    expect(fetched).toMatchObject({ isHere: false });
    expect(new Set(asked)).toEqual(new Set('bcdefg'));
  });
});

/** A member on demand whose user wrote a file, and bee, which was told so. */
async function written() {
  const bee = new ScriptedPeer('b');
  const member = openTestMember([bee], { onDemand: true });
  member.volume.disk.write('a', contentOfText('first'));
  void member.engine.start();
  const isTold = (): boolean => told(bee).length > 0;
  expect(await member.until(() => member.engine.lifecycle.state === 'active' && isTold(), 10_000)).toBe(true);
  await member.until(() => false, 3_000);
  return { ...member, bee };
}

const told = (bee: ScriptedPeer) => bee.heard.filter(({ type }) => type === 'holdings' || type === 'flipped');

describe('[OD15] a member on demand', () => {
  test('tells once a second what has changed, and nothing while nothing does', async () => {
    const { bee, volume, until, engine } = await written();
    const peer = engine.peers.ready()[0];
    const before = told(bee).length;
    await until(() => false, 60_000);
    expect(told(bee)).toHaveLength(before);
    for (let index = 0; index < 3; index++) volume.disk.write(`new${index}`, contentOfText(`new ${index}`));
    await until(() => false, 5_000);
    const [change, ...more] = told(bee).slice(before);
    expect(change).toMatchObject({ type: 'flipped', seq: before + 1 });
    expect(more.length).toBeLessThanOrEqual(1);
    expect(peer?.ready).toBe(true);
  });

  test('sends the whole filter to one that asks for it, and to one that connects again', async () => {
    const { bee, until } = await written();
    const before = told(bee).length;
    bee.say({ type: 'retell' });
    expect(await until(() => told(bee).length > before, 2_000)).toBe(true);
    bee.end('cut');
    expect(await until(() => told(bee).length > before + 1, 30_000)).toBe(true);
    const [answer, again] = told(bee).slice(before);
    expect(answer?.type).toBe('holdings');
    expect(again).toEqual(answer);
  });

  test('tells what is on its disk after a transaction that was rolled back', async () => {
    const { bee, journal, until } = await written();
    const change = (): void =>
      journal.transaction(() => {
        journal.disk.record([{ path: 'a', entry: undefined }]);
        throw new Error('no');
      });
    expect(change).toThrow('no');
    await until(() => false, 5_000);
    expect(toldBy(bee)?.mayHave(contentOfText('first').id)).toBe(true);
  });

  test('is asked for the whole filter if a change does not follow the last one', async () => {
    const bee = new ScriptedPeer('b');
    bee.onDemand = true;
    const { engine, until } = openTestMember([bee]);
    void engine.start();
    expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
    const holdings = () => engine.peers.ready()[0]?.holdings;
    bee.say({ type: 'flipped', seq: 1, positions: [1] });
    expect(await until(() => bee.all('retell').length === 1, 100)).toBe(true);
    bee.say(holdingsOf(short));
    bee.say({ type: 'flipped', seq: 2, positions: [1, 2] });
    await until(() => false, 100);
    expect(bee.all('retell')).toHaveLength(1);
    expect(holdings()?.mayHave(short.id)).toBe(true);
    for (const change of [
      { seq: 4, positions: [1] },
      { seq: 2, positions: [2_000] },
    ]) {
      bee.say(holdingsOf(short));
      bee.say({ type: 'flipped', ...change });
      await until(() => false, 100);
      expect(holdings()).toBeUndefined();
    }
    expect(bee.all('retell')).toHaveLength(3);
    expect(bee.ends).toEqual([]);
  });
});

test('[OD14] a filter of a member with the whole folder is refused', async () => {
  const bee = new ScriptedPeer('b');
  const { engine, until } = openTestMember([bee]);
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  bee.say(holdingsOf());
  expect(await until(() => bee.ends.length > 0, 1_000)).toBe(true);
  expect(bee.ends[0]).toContain('holdings comes from a member with the whole folder');
});

test('[OD14] [OD15] what was told are the contents on the disk, as files come and go and the filter changes its size', async () => {
  const { bee, volume, until, journal } = await written();
  const contents = Array.from({ length: 200 }, (_, index) => contentOfText(`file ${index}`));
  for (const [index, one] of contents.entries()) volume.disk.write(`n${index}`, one);
  expect(await until(() => journal.totals.counts().disk.files === 201, 60_000)).toBe(true);
  await until(() => false, 5_000);
  const large = toldBy(bee);
  expect(large?.bytes).toBeGreaterThan(128);
  expect(contents.every(({ id }) => large?.mayHave(id))).toBe(true);
  for (const index of contents.keys()) if (index >= 5) volume.disk.unlink(`n${index}`);
  expect(await until(() => journal.totals.counts().disk.files === 6, 60_000)).toBe(true);
  await until(() => false, 5_000);
  const small = toldBy(bee);
  expect(small?.bytes).toBe(128);
  expect(contents.filter(({ id }) => small?.mayHave(id))).toEqual(contents.slice(0, 5));
});

/** The filter that bee has after all that was told. */
function toldBy(bee: ScriptedPeer): HoldingsFilter | undefined {
  let filter: HoldingsFilter | undefined;
  for (const message of bee.heard) {
    if (message.type === 'holdings') filter = new HoldingsFilter(message.seq, message.bits);
    if (message.type === 'flipped') expect(filter?.flip(message.seq, message.positions)).toBe(true);
  }
  return filter;
}

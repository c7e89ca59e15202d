import { blocksInFlightPerSourceMax, type MemberId, type Operation, type WantMessage } from '@lockstep/shared';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTestMember, ScriptedPeer, type TestMember } from '../../../test/support/scripted-peer.ts';
import { blockOf, virtualContent } from '../../sim/disk/content.ts';
import { openJournal } from '../../store/journal.ts';

const mebibyte = 1_048_576;
const blocks = 24;
const content = virtualContent('film', blocks * mebibyte);

/** A request for a block that a peer got. */
interface Asked {
  /** The letter of the peer. */
  readonly of: string;
  readonly want: WantMessage;
  /** Sends the block, or other bytes, after so many milliseconds. */
  readonly give: (delayMs?: number, bytes?: Uint8Array) => void;
}

/** Bee made a film of 24 blocks. The others have it too, but for those in `lacking`. Resolves when its operation was sent. */
async function film(letters: string, answer: (asked: Asked) => void, lacking = '') {
  const peers = new Map([...letters].map((letter) => [letter, new ScriptedPeer(letter)]));
  const peer = (letter: string) => peers.get(letter) as ScriptedPeer;
  const member: TestMember = openTestMember([...peers.values()]);
  const asked: Asked[] = [];
  for (const [of, { say }] of [...peers].map(([letter, one]) => [letter, { say: one.say.bind(one) }] as const)) {
    peer(of).answer = (message) => {
      if (message.type !== 'want' || message.probe === true) return;
      const give = (delayMs = 0, bytes = blockOf(content, message.index)): void => {
        member.scheduler.after(delayMs, () => say({ type: 'block', id: message.id, bytes }));
      };
      asked.push({ of, want: message, give });
      answer({ of, want: message, give });
    };
  }
  void member.engine.start();
  expect(await member.until(() => member.engine.lifecycle.state === 'active', 10_000)).toBe(true);
  const { origin } = peer('b');
  const put = { origin, seq: 1, hlc: 1, path: 'film', version: { vector: { [origin]: 1 } } };
  const { id, size, blocks: hashes } = content;
  const operation = { ...put, kind: 'put', mode: 0o644, mtimeUs: 0, content: id, size, blocks: hashes } as Operation;
  const marks = marksOf(operation);
  for (const [letter, one] of peers) {
    if (lacking.includes(letter)) continue;
    one.known = { [origin]: 1 };
    one.say({ type: 'ack', known: one.known, marks, applied: { vector: one.known, ranges: {} } });
  }
  peer('b').sayOperations([operation]);
  const isThere = (): boolean => member.volume.disk.at('film')?.content?.id === id;
  const indicesOf = (letter: string) => asked.filter(({ of }) => of === letter).map(({ want }) => want.index);
  const all = () => asked.map(({ want }) => want.index);
  return { ...member, peer, asked, isThere, indicesOf, all };
}

/** The marks of a member whose journal has only this operation. */
function marksOf(operation: Operation): Uint8Array {
  const memberId = 'y'.repeat(52) as MemberId;
  const journal = openJournal({ path: ':memory:', memberId, random: () => 0, nowMs: () => 0 });
  onTestFinished(() => journal.close());
  journal.append([operation]);
  return journal.log.marks();
}

const ascending = (indices: readonly number[]) => indices.toSorted((a, b) => a - b);
const everyBlock = [...Array(blocks).keys()];
/** The indices that are in the list a second time. */
const repeated = (indices: readonly number[]) => indices.filter((index, at) => indices.indexOf(index) !== at);

describe('[CT21] a large content', () => {
  test('comes from all members that have it, each block once', async () => {
    const { until, isThere, all, indicesOf } = await film('bcd', ({ give }) => give(20));
    expect(await until(isThere, 5_000)).toBe(true);
    expect(ascending(all())).toEqual(everyBlock);
    for (const letter of 'bcd') expect(indicesOf(letter).length).toBeGreaterThan(2);
  });

  test('comes mostly from the fast ones, and its end does not wait for a slow one', async () => {
    const freeAtMs = { b: 0, c: 0 };
    const film_ = film('bc', ({ of, give }) => {
      void film_.then(({ scheduler }) => {
        // Bee sends a block in 20 ms, and cat in 2 s, one after the other.
        const line = of as 'b' | 'c';
        freeAtMs[line] = Math.max(freeAtMs[line], scheduler.nowMs) + (line === 'b' ? 20 : 2_000);
        give(freeAtMs[line] - scheduler.nowMs);
      });
    });
    const { until, isThere, indicesOf } = await film_;
    expect(await until(isThere, 1_500)).toBe(true);
    expect(indicesOf('c').length).toBeLessThanOrEqual(2);
    expect(new Set(indicesOf('b')).size).toBe(blocks);
  });

  test('comes from a member that fetches it as well, as far as that has it, and leaves its origin once', async () => {
    const { until, isThere, indicesOf, peer, asked } = await film(
      'bc',
      ({ of, give }) => give(of === 'b' ? 200 : 5),
      'c',
    );
    expect(await until(() => asked.length > 0, 5_000)).toBe(true);
    // Cat fetches the other half at the same time.
    const first = indicesOf('b')[0] ?? 0;
    const others: readonly [number, number] = first === 0 ? [12, 23] : [0, 11];
    peer('c').say({ type: 'have', content: content.id, blocks: [others] });
    expect(await until(isThere, 10_000)).toBe(true);
    const [from, to] = others;
    expect(ascending(indicesOf('c'))).toEqual(everyBlock.filter((index) => from <= index && index <= to));
    expect(ascending(indicesOf('b'))).toEqual(everyBlock.filter((index) => index < from || to < index));
  });

  test('of which a member does not have what it offered comes from others, without a problem', async () => {
    const { until, isThere, peer, asked, engine } = await film(
      'bc',
      ({ of, want, give }) => {
        if (of === 'b') give(50);
        else peerSays(want.id);
      },
      'c',
    );
    const peerSays = (id: number): void => peer('c').say({ type: 'missing', id, lacks: true, shows: false });
    peer('c').say({ type: 'have', content: content.id, blocks: [[0, 23]] });
    expect(await until(isThere, 10_000)).toBe(true);
    expect(asked.filter(({ of }) => of === 'c').length).toBeLessThan(5);
    expect(engine.context.problems.list()).toEqual([]);
  });

  test('is announced to the members that lack it, block by block, and served while the rest is fetched', async () => {
    const { until, peer, asked } = await film(
      'bc',
      ({ want, give }) => {
        if (want.index !== 5) give(10);
      },
      'c',
    );
    const announced = () => {
      const ranges = peer('c')
        .all('have')
        .flatMap(({ blocks }) => blocks);
      return everyBlock.filter((index) => ranges.some(([from, to]) => from <= index && index <= to));
    };
    const others = everyBlock.filter((index) => index !== 5);
    expect(await until(() => announced().length >= others.length, 5_000)).toBe(true);
    expect(announced()).toEqual(others);
    expect(peer('b').all('have')).toEqual([]);
    peer('c').say({ type: 'want', id: 7, content: content.id, index: 6, path: 'film' });
    peer('c').say({ type: 'want', id: 8, content: content.id, index: 5, path: 'film' });
    expect(await until(() => peer('c').all('block').length > 0, 1_000)).toBe(true);
    const [sent, ...more] = peer('c').all('block');
    expect([sent?.id, more]).toEqual([7, []]);
    // Not by `toEqual`, which takes five seconds for a block.
    expect(Buffer.compare(sent?.bytes ?? Buffer.of(), blockOf(content, 6))).toBe(0);
    expect(await until(() => peer('c').all('missing').length > 0, 1_000)).toBe(true);
    expect(peer('c').all('missing')).toMatchObject([{ id: 8, lacks: true }]);
    // Block 5 was requested from bee only.
    expect(asked.every(({ of }) => of === 'b')).toBe(true);
  });
});

describe('[CT22] a source of a large content', () => {
  test('that sends nothing more is replaced within two seconds, and nothing that has come is requested again', async () => {
    let isSilent = false;
    const { until, isThere, indicesOf, all, engine } = await film('bc', ({ of, want, give }) => {
      if (of === 'b' && isSilent) return;
      give(30);
      if (of === 'b' && want.index > 4) isSilent = true;
    });
    expect(await until(isThere, 3_000)).toBe(true);
    const taken = indicesOf('b').filter((index) => indicesOf('c').includes(index));
    expect(ascending(repeated(all()))).toEqual(ascending(taken));
    expect(taken.length).toBeLessThanOrEqual(blocksInFlightPerSourceMax);
    expect(engine.context.problems.list()).toEqual([]);
  });

  test('whose session ends is replaced at once', async () => {
    const { until, isThere, peer, all, asked } = await film('bc', ({ of, give }) => {
      if (of === 'c') give(30);
    });
    expect(await until(() => asked.some(({ of }) => of === 'b'), 5_000)).toBe(true);
    const open = asked.filter(({ of }) => of === 'b').length;
    peer('b').end('cut');
    expect(await until(isThere, 1_500)).toBe(true);
    expect(repeated(all()).length).toBeLessThanOrEqual(open);
  });

  test.each([
    ['wrong bytes', (index: number) => blockOf(virtualContent('other', content.size), index)],
    ['a block that is too short', (index: number) => blockOf(content, index).slice(1)],
  ])('that sends %s is named and asked no more', async (_what, wrong) => {
    const { until, isThere, indicesOf, engine } = await film('bc', ({ of, want, give }) => {
      if (of === 'c') give(10, wrong(want.index));
      else give(30);
    });
    const named = (): boolean => engine.context.problems.list().some(({ code }) => code === 'content-corrupt');
    expect(await until(named, 5_000)).toBe(true);
    expect(engine.context.problems.list()[0]?.detail).toContain('c.test:1 sent bytes of film');
    expect(await until(isThere, 5_000)).toBe(true);
    expect(indicesOf('c').length).toBeLessThanOrEqual(blocksInFlightPerSourceMax);
    expect(new Set(indicesOf('b')).size).toBe(blocks);
  });

  test('that sends blocks that were not requested, or the same twice, is named, and the file is right', async () => {
    const { until, isThere, peer, engine, all } = await film('bc', ({ of, give }) => {
      give(10);
      if (of === 'c') give(15);
    });
    peer('c').say({ type: 'block', id: 99_999, bytes: new Uint8Array(10) });
    expect(await until(isThere, 5_000)).toBe(true);
    expect(ascending(all())).toEqual(everyBlock);
    const problems = engine.context.problems.list();
    expect(problems).toMatchObject([{ code: 'content-corrupt', member: 'c.test:1' }]);
    expect(problems[0]?.detail).toContain('sent a block that was not requested');
  });

  test('that announces ranges of blocks that do not exist does no harm', async () => {
    const { until, isThere, peer, all } = await film('bc', ({ of, give }) => give(of === 'b' ? 50 : 5), 'c');
    peer('c').say({ type: 'have', content: content.id, blocks: [[20, 500_000]] });
    expect(await until(isThere, 10_000)).toBe(true);
    expect(ascending(all())).toEqual(everyBlock);
  });
});

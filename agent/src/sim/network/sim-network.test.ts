import type { MemberId, PeerMessage } from '@lockstep/shared';
import { blockBytes, inlineBytesMax, sendQueueBytesMax } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { Link } from '../../sync/ports/network.ts';
import { Life } from '../base/life.ts';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { blockOf, virtualContent } from '../disk/content.ts';
import { freezeMessage, Medium } from './sim-network.ts';
import { Uplink } from './uplink.ts';

const [ant, bee] = ['a'.repeat(52), 'b'.repeat(52)] as [MemberId, MemberId];

async function connected(bytesPerMs = 1e6, uplink?: Uplink) {
  const random = new Random(5);
  const scheduler = new Scheduler(random.fork());
  const conduct = () => ({ delayMsMax: 20, bytesPerMs });
  const shared = uplink && { uplink: () => uplink };
  const medium = new Medium({ scheduler, random, conduct, carrier: freezeMessage, observed: () => {}, ...shared });
  const lives = { ant: new Life(), bee: new Life() };
  const network = medium.open(ant, 'ant:1', lives.ant);
  const links: Link[] = [];
  medium.open(bee, 'bee:1', lives.bee).onLink((link) => links.push(link));
  const dialled = network.dial('bee:1').then((link) => links.unshift(link));
  await scheduler.run(1_000);
  await dialled;
  const [here, there] = links;
  if (here === undefined || there === undefined) throw new Error('not connected');
  return { scheduler, medium, lives, network, here, there };
}

/** The messages that a link receives from now on, as short texts. */
function heardAt(link: Link): string[] {
  const heard: string[] = [];
  link.start({
    message: (message) => heard.push('id' in message ? `${message.type} ${message.id}` : message.type),
    closed: (reason) => heard.push(`closed: ${reason}`),
  });
  return heard;
}

const signal = (id: number): PeerMessage => ({ type: 'missing', id, lacks: false, shows: false });

describe('Medium', () => {
  test('carries messages both ways, in the order of sending, including those before start', async () => {
    const { scheduler, here, there } = await connected();
    expect([here.peer, here.dialled, there.peer, there.dialled]).toEqual([bee, true, ant, false]);
    for (let id = 0; id < 50; id++) here.send(signal(id));
    await scheduler.run(2_000);
    const heard = heardAt(there);
    for (let id = 50; id < 100; id++) here.send(signal(id));
    here.close('enough');
    await scheduler.run(3_000);
    expect(heard).toEqual([...Array.from({ length: 100 }, (_, id) => `missing ${id}`), 'closed: enough']);
  });

  test('[MB5] signals overtake operations, and both overtake blocks; nothing else is overtaken', async () => {
    const { scheduler, here, there } = await connected(1_000);
    const heard = heardAt(there);
    const sent: string[] = [];
    for (let id = 0; id < 150; id++) {
      const bytes = new Uint8Array(1_000);
      if (id % 3 === 0) here.send({ type: 'block', id, bytes });
      else if (id % 3 === 1) here.send({ type: 'operations', id, carried: [] });
      else here.send(signal(id));
      sent.push(`${['block', 'operations', 'missing'][id % 3]} ${id}`);
    }
    await scheduler.run(scheduler.nowMs + 5_000);
    expect([...heard].sort()).toEqual([...sent].sort());
    const lane = (text: string): number => 2 - (sent.indexOf(text) % 3);
    const overtakings = heard.flatMap((text, place) =>
      heard
        .slice(0, place)
        .filter((earlier) => sent.indexOf(earlier) > sent.indexOf(text))
        .map((by) => [by, text]),
    );
    expect(overtakings.filter(([by = '', text = '']) => lane(by) >= lane(text))).toEqual([]);
    expect(new Set(overtakings.map(([by = '', text = '']) => `${lane(by)} ${lane(text)}`))).toEqual(
      new Set(['0 1', '0 2', '1 2']),
    );
  });

  test('a dial to an unused address is refused, and so is one through a cut', async () => {
    const { scheduler, network, medium } = await connected();
    const outcomes: string[] = [];
    const dial = (address: string) => network.dial(address).catch((error: Error) => outcomes.push(error.message));
    void dial('nobody:1');
    medium.cut(ant, bee, 'refused');
    void dial('bee:1');
    await scheduler.run(2_000);
    medium.cut(ant, bee, 'silent');
    void dial('bee:1');
    await scheduler.run(30_000);
    expect(outcomes).toEqual(['nobody:1', 'bee:1', 'bee:1'].map((address) => `No member answers at ${address}.`));
  });

  test('a refusing cut breaks the session on both sides; a silent one notifies neither', async () => {
    const refused = await connected();
    const heard = [heardAt(refused.here), heardAt(refused.there)];
    refused.medium.cut(ant, bee, 'refused');
    await refused.scheduler.run(2_000);
    expect(heard).toEqual([['closed: the connection was lost'], ['closed: the connection was lost']]);

    const silent = await connected();
    const quiet = heardAt(silent.there);
    silent.medium.cut(ant, bee, 'silent');
    silent.here.send(signal(1));
    await silent.scheduler.run(5_000);
    expect(quiet).toEqual([]);
    silent.medium.heal(ant, bee);
    await silent.scheduler.run(6_000);
    expect([['missing 1'], ['closed: reset']]).toContainEqual(quiet);
  });

  test('a crashed member sends nothing; the others notice when its kernel closes its connections, or when it is back', async () => {
    const { scheduler, medium, lives, here, there } = await connected();
    const heard = heardAt(there);
    lives.ant.end();
    expect(() => here.send(signal(1))).toThrow('crashed');
    medium.down(ant, 'ant:1', false);
    await scheduler.run(5_000);
    expect(heard).toEqual([]);
    medium.up(ant);
    await scheduler.run(6_000);
    expect(heard).toEqual(['closed: the connection was lost']);
  });

  test('on an uplink all sessions of a member share its rate, and large blocks weigh all their bytes', async () => {
    const uplink = new Uplink(1_000);
    const { scheduler, here, there } = await connected(1e6, uplink);
    const began = scheduler.nowMs;
    const arrivals: number[] = [];
    there.start({ message: () => arrivals.push(scheduler.nowMs - began), closed: () => {} });
    // Another session of the member sends first.
    uplink.send(500_000, began);
    here.send({ type: 'block', id: 1, bytes: new Uint8Array(blockBytes) });
    uplink.bytesPerMs = 10_000;
    here.send({ type: 'block', id: 2, bytes: new Uint8Array(blockBytes) });
    await scheduler.run(began + 5_000);
    const firstMs = (500_000 + blockBytes) / 1_000;
    const secondMs = firstMs + blockBytes / 10_000;
    for (const [index, ms] of [firstMs, secondMs].entries()) {
      expect(arrivals[index]).toBeGreaterThan(ms);
      expect(arrivals[index]).toBeLessThan(ms + 50);
    }
  });

  test('the send queue drains at the speed of the line', async () => {
    const { scheduler, here } = await connected(1_000);
    let drained = 0;
    here.whenDrained('blocks', () => drained++);
    expect(drained).toBe(1);
    const bytes = new Uint8Array(inlineBytesMax);
    for (let id = 0; id < 64; id++) here.send({ type: 'block', id, bytes });
    expect(here.queuedBytes()).toBeGreaterThan(sendQueueBytesMax);
    here.whenDrained('blocks', () => drained++);
    await scheduler.run(scheduler.nowMs + 2_000);
    expect(drained).toBe(1);
    await scheduler.run(scheduler.nowMs + 2_000);
    expect(drained).toBe(2);
    expect(here.queuedBytes()).toBeLessThan(sendQueueBytesMax / 2);
    here.whenSent(() => drained++);
    expect(drained).toBe(2);
    await scheduler.run(scheduler.nowMs + 5_000);
    expect(drained).toBe(3);
    expect(here.queuedBytes()).toBe(0);
  });

  test('bytes that only fill a large block cost no time, also in a part of it', async () => {
    const { scheduler, here, there } = await connected(1);
    const heard = heardAt(there);
    const block = blockOf(virtualContent('v1', blockBytes), 0);
    here.send({ type: 'block', id: 1, bytes: block });
    here.send({ type: 'block', id: 2, bytes: block.slice(0, inlineBytesMax) });
    here.send({ type: 'block', id: 3, bytes: block.slice(inlineBytesMax, 2 * inlineBytesMax) });
    await scheduler.run(scheduler.nowMs + 1_000);
    expect(heard).toEqual(['block 1', 'block 2', 'block 3']);
    here.send({ type: 'block', id: 4, bytes: new Uint8Array(2_000) });
    await scheduler.run(scheduler.nowMs + 1_000);
    expect(heard).toHaveLength(3);
  });

  test('no member can change an object of another member', async () => {
    const { scheduler, here, there } = await connected();
    const vector: Record<string, number> = { [`${ant}.aaaaaaaa`]: 1 };
    const known = vector as Extract<PeerMessage, { type: 'ack' }>['known'];
    here.send({ type: 'ack', known, marks: new Uint8Array(8), applied: { vector: known, ranges: {} } });
    heardAt(there);
    await scheduler.run(2_000);
    expect(() => Object.assign(known, { other: 2 })).toThrow(TypeError);
  });
});

import { type AddressInfo, connect, createServer } from 'node:net';
import {
  blockBytes,
  type MemberRecord,
  memberPath,
  type Operation,
  originId,
  type PeerMessage,
  sendQueueBytesMax,
} from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import {
  afterTest,
  ant,
  bee,
  blockOf,
  clusterKey,
  firstOf,
  openPair,
  openTestNetwork,
  operationsOf,
  receive,
  silentLog,
  until,
} from '../../test/support/networks.ts';
import { formatAddress } from './address.ts';
import { openNetwork } from './network.ts';

/** A small message, which is sent ahead of operations and blocks. */
const signal = (id: number): PeerMessage => ({ type: 'missing', id, lacks: false, shows: false });

describe('a session', () => {
  test('both sides know the member id of the other', async () => {
    const { b, dialled, accepted } = await openPair();
    expect(dialled).toMatchObject({ peer: bee.memberId, dialled: true, remote: b.address });
    expect(accepted).toMatchObject({ peer: ant.memberId, dialled: false });
    expect(accepted.remote).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('carries messages both ways, in order', async () => {
    const { dialled, accepted } = await openPair();
    const atDialler = receive(dialled);
    const atListener = receive(accepted);
    for (let id = 0; id < 100; id++) dialled.send({ type: 'received', id });
    accepted.send({ type: 'leave', retire: false });
    await until(() => expect(atListener.messages.length).toBe(100));
    expect(atListener.messages.map((message) => 'id' in message && message.id)).toEqual([...Array(100).keys()]);
    await until(() => expect(atDialler.messages).toEqual([{ type: 'leave', retire: false }]));
  });

  test('keeps messages that come before start, and the end', async () => {
    const { dialled, accepted } = await openPair({ closeTimeoutMs: 60_000 });
    for (let id = 0; id < 50; id++) dialled.send({ type: 'received', id });
    dialled.send(operationsOf(7));
    dialled.close('going home');
    const received = receive(accepted);
    await until(() => expect(received.ends).toEqual(['going home']));
    expect(received.messages.length).toBe(51);
  });

  test('a block of any size arrives in memory of its own', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    const received = receive(accepted);
    for (const length of [0, 1, 4_096, 70_000, blockBytes]) {
      dialled.send({ type: 'block', id: length, bytes: new Uint8Array(length).fill(length % 251) });
    }
    await until(() => expect(received.messages.length).toBe(5));
    for (const message of received.messages) {
      if (message.type !== 'block') throw new Error(message.type);
      expect(message.bytes).toHaveLength(message.id);
      expect(message.bytes.every((byte) => byte === message.id % 251)).toBe(true);
      const { buffer } = message.bytes;
      expect(buffer instanceof SharedArrayBuffer || buffer.byteLength === message.id).toBe(true);
    }
  });

  test('closed is called once, on both sides, whichever side closes', async () => {
    const { dialled, accepted } = await openPair();
    const atDialler = receive(dialled);
    const atListener = receive(accepted);
    accepted.close('first');
    accepted.close('second');
    dialled.close('third');
    await until(() => expect(atDialler.ends).toHaveLength(1));
    await until(() => expect(atListener.ends).toEqual(['first']));
    accepted.send({ type: 'leave', retire: false });
    expect(accepted.queuedBytes()).toBe(0);
  });

  test('a network that closes ends its sessions and frees its port', async () => {
    const { a, b, dialled } = await openPair();
    const received = receive(dialled);
    await b.network.close();
    await until(() => expect(received.ends).toEqual(['the agent stops']));
    await expect(a.network.dial(b.address)).rejects.toMatchObject({ code: 'unreachable' });
    await openTestNetwork(bee, { listen: b.network.address });
  });

  test('sessions that open before onLink wait for it', async () => {
    const b = await openNetwork({ identity: bee, clusterKey, listen: { host: '127.0.0.1', port: 0 }, log: silentLog });
    afterTest(() => b.close());
    const a = await openTestNetwork(ant);
    await a.network.dial(formatAddress(b.address));
    const peers: string[] = [];
    b.onLink((link) => peers.push(link.peer));
    await until(() => expect(peers).toEqual([ant.memberId]));
  });

  test('a peer that does not read: the queue grows, and drains when it reads again', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    let drained = 0;
    const blocks = 64;
    for (let index = 0; index < blocks; index++) dialled.send(blockOf(index));
    // More than the kernel takes on loopback, and the other side has not called start.
    await until(() => expect(dialled.queuedBytes()).toBeGreaterThan(sendQueueBytesMax));
    dialled.whenDrained('blocks', () => drained++);
    expect(drained).toBe(0);
    const received = receive(accepted);
    await until(() => expect(drained).toBe(1));
    expect(dialled.queuedBytes('blocks')).toBeLessThan(sendQueueBytesMax / 2);
    await until(() => expect(received.messages.length).toBe(blocks));
    dialled.whenDrained('blocks', () => drained++);
    expect(drained).toBe(2);
  });

  test('[MB5] blocks are overtaken by all other messages, and by no other block', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.send(signal(1));
    dialled.send(signal(2));
    const { messages } = receive(accepted);
    await until(() => expect(messages.length).toBe(66));
    const blocks = messages.filter((message) => message.type === 'block');
    expect(blocks.map((message) => message.id)).toEqual([...Array(64).keys()]);
    const at = messages.findIndex((message) => message.type === 'missing');
    expect(at).toBeLessThan(32);
    expect(messages[at + 1]).toEqual(signal(2));
  });

  test('[MB5] operations are overtaken by signals alone, and leave comes after them', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    for (let id = 0; id < 32; id++) dialled.send(operationsOf(id));
    dialled.send(blockOf(0));
    dialled.send({ type: 'pulled', id: 3, total: 32, done: true });
    dialled.send(signal(1));
    dialled.send({ type: 'received', id: 2 });
    dialled.send({ type: 'leave', retire: false });
    const { messages } = receive(accepted);
    await until(() => expect(messages.length).toBe(37));
    const inLane = messages.filter((message) => message.type !== 'missing' && message.type !== 'received');
    expect(inLane.map((message) => ('id' in message ? message.id : message.type))).toEqual([
      ...Array(32).keys(),
      3,
      'leave',
      0,
    ]);
    const at = messages.findIndex((message) => message.type === 'missing');
    expect(at).toBeLessThan(16);
    expect(messages[at + 1]).toEqual({ type: 'received', id: 2 });
  });

  test('[MB21] a small block overtakes large ones, and takes turns with them', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    for (let index = 0; index < 32; index++) dialled.send(blockOf(index));
    for (let id = 100; id < 104; id++) dialled.send({ type: 'block', id, bytes: new Uint8Array(10_000) });
    const { messages } = receive(accepted);
    await until(() => expect(messages.length).toBe(36));
    const ids = messages.map((message) => ('id' in message ? message.id : -1));
    expect(ids.filter((id) => id < 100)).toEqual([...Array(32).keys()]);
    expect(ids.filter((id) => id >= 100)).toEqual([100, 101, 102, 103]);
    expect(ids.indexOf(103)).toBeLessThan(16);
  });

  test('[CT10] withdrawn blocks do not leave, unless they have begun to', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    for (let id = 100; id < 104; id++) dialled.send({ type: 'block', id, bytes: new Uint8Array(10_000) });
    const dropped = dialled.withdraw(new Set([0, ...Array.from({ length: 40 }, (_, index) => 24 + index), 103, 1_000]));
    expect(dropped).toEqual(expect.arrayContaining([...Array.from({ length: 40 }, (_, index) => 24 + index), 103]));
    expect(dropped).not.toContain(0);
    expect(dropped).not.toContain(1_000);
    const { messages } = receive(accepted);
    await until(() => expect(messages.length).toBe(68 - dropped.length));
    const ids = messages.map((message) => ('id' in message ? message.id : -1));
    expect(ids.filter((id) => dropped.includes(id))).toEqual([]);
    expect(dialled.queuedBytes('blocks')).toBe(0);
  });

  test('[MB21] operations do not wait until the blocks in the queue are sent', async () => {
    const { dialled } = await openPair();
    receive(dialled);
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    expect(dialled.queuedBytes('blocks')).toBeGreaterThan(sendQueueBytesMax);
    expect(dialled.queuedBytes('operations')).toBe(0);
    const drained: string[] = [];
    dialled.whenDrained('blocks', () => drained.push('blocks'));
    dialled.whenDrained('operations', () => drained.push('operations'));
    expect(drained).toEqual(['operations']);
  });

  test('operations that wait are still sent when the session is closed', async () => {
    const { dialled, accepted } = await openPair({ closeTimeoutMs: 60_000 });
    for (let id = 0; id < 16; id++) dialled.send(operationsOf(id));
    dialled.close('going home');
    const received = receive(accepted);
    await until(() => expect(received.ends).toEqual(['going home']));
    expect(received.messages.length).toBe(16);
  });

  test('a session that was closed ends with what the other side said, even if the connection is then reset', async () => {
    const a = await openTestNetwork(ant);
    const b = await openTestNetwork(bee);
    const { host, port } = b.network.address;
    const proxy = createServer((client) => {
      const server = connect({ host, port, allowHalfOpen: true });
      client
        .on('error', () => {})
        .pipe(
          server.on('error', () => {}),
          { end: false },
        );
      server.on('data', (bytes) => client.write(bytes)).on('end', () => server.resetAndDestroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    afterTest(() => void proxy.close());
    const dialled = await a.network.dial(`127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    const { messages, ends } = receive(await firstOf(b.links));
    dialled.send(operationsOf(1));
    dialled.close('going home');
    await until(() => expect(ends.length).toBe(1));
    expect(ends).toEqual(['going home']);
    expect(messages.length).toBe(1);
  });

  test('the received bytes of an incomplete message are counted', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    const before = accepted.receivedBytes();
    dialled.send(blockOf(0));
    const { messages } = receive(accepted);
    await until(() => expect(messages.length).toBe(1));
    expect(accepted.receivedBytes() - before).toBeGreaterThan(blockBytes);
  });

  test('whenSent is called once nothing waits, signals included', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    const sent: string[] = [];
    dialled.whenSent(() => sent.push('at rest'));
    expect(sent).toEqual(['at rest']);
    dialled.send({ type: 'leave', retire: false });
    dialled.whenSent(() => sent.push('a signal'));
    expect(sent).toEqual(['at rest']);
    await until(() => expect(sent).toEqual(['at rest', 'a signal']));
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.whenSent(() => sent.push('blocks'));
    // The other side has not called start.
    await until(() => expect(dialled.queuedBytes()).toBeGreaterThan(sendQueueBytesMax));
    receive(accepted);
    await until(() => expect(sent).toEqual(['at rest', 'a signal', 'blocks']));
    expect(dialled.queuedBytes()).toBe(0);
  });

  test('whenSent is not called after the link closed', async () => {
    const { dialled } = await openPair();
    const received = receive(dialled);
    let sent = 0;
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.whenSent(() => sent++);
    dialled.close('enough');
    await until(() => expect(received.ends).toEqual(['enough']));
    expect(sent).toBe(0);
  });

  test('whenDrained is not called after the link closed', async () => {
    const { dialled } = await openPair();
    const received = receive(dialled);
    let drained = 0;
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.whenDrained('blocks', () => drained++);
    dialled.close('enough');
    await until(() => expect(received.ends).toEqual(['enough']));
    expect(drained).toBe(0);
  });
});

describe('[MB15] the record of a member that may be away', () => {
  const member = { id: ant.memberId, name: 'ant', addresses: [], membership: 'joined' } as const;
  const message = (record: MemberRecord): PeerMessage => {
    const origin = originId(ant.memberId, 'aaaaaaaa');
    const path = memberPath(ant.memberId);
    const operation = {
      origin,
      seq: 1,
      hlc: 1,
      kind: 'member',
      path,
      version: { vector: { [origin]: 1 } },
      member: record,
    };
    return { type: 'operations', id: 1, carried: [{ operation: operation as Operation }] };
  };

  test('arrives with the mark', async () => {
    const { dialled, accepted } = await openPair();
    const received = receive(accepted);
    dialled.send(message({ ...member, mayBeAway: true, onDemand: true }));
    await until(() =>
      expect(received.messages).toMatchObject([
        { carried: [{ operation: { member: { mayBeAway: true, onDemand: true } } }] },
      ]),
    );
  });
});

import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { blockBytes, frameBytesMax, originId, type PeerMessage, sendQueueBytesMax } from '@lockstep/shared';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Log } from '../sync/ports/log.ts';
import type { Link } from '../sync/ports/network.ts';
import { formatAddress } from './address.ts';
import { createClusterKey } from './cluster-key.ts';
import { encodeMessage } from './codec.ts';
import { openConnection } from './dial.ts';
import { createIdentity, type Identity } from './identity.ts';
import { type NetworkOptions, type OpenNetwork, openNetwork } from './network.ts';

const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const clusterKey = createClusterKey();
const [ant, bee] = await Promise.all([createIdentity(), createIdentity()]);

/** Long enough for a machine that is busy with other tests; a passing test waits for none of it. */
function until<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, 20_000);
}

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function openTestNetwork(identity: Identity, options: Partial<NetworkOptions> = {}) {
  const network = await openNetwork({ identity, clusterKey, listen: { host: '127.0.0.1', port: 0 }, log, ...options });
  closing.push(() => network.close());
  const links: Link[] = [];
  const refusals: string[] = [];
  network.onLink((link) => links.push(link));
  network.onRefused((_remote, reason) => refusals.push(reason));
  return { network, links, refusals, address: formatAddress(network.address) };
}

interface Received {
  readonly messages: PeerMessage[];
  readonly ends: string[];
}

function receive(link: Link): Received {
  const received: Received = { messages: [], ends: [] };
  link.start({
    message: (message) => received.messages.push(message),
    closed: (reason) => received.ends.push(reason),
  });
  return received;
}

async function openPair() {
  const a = await openTestNetwork(ant);
  const b = await openTestNetwork(bee);
  const dialled = await a.network.dial(b.address);
  const accepted = await until(() => {
    const [link] = b.links;
    if (link === undefined) throw new Error('no session yet');
    return link;
  });
  return { a, b, dialled, accepted };
}

function blockOf(byte: number): PeerMessage {
  return { type: 'block', id: byte, bytes: new Uint8Array(blockBytes).fill(byte) };
}

describe('a session', () => {
  test('both sides know who the other one is', async () => {
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
    await until(() => expect(atListener.messages).toHaveLength(100));
    expect(atListener.messages.map((message) => 'id' in message && message.id)).toEqual([...Array(100).keys()]);
    await until(() => expect(atDialler.messages).toEqual([{ type: 'leave', retire: false }]));
  });

  test('keeps what comes before start, the end included', async () => {
    const { dialled, accepted } = await openPair();
    for (let id = 0; id < 50; id++) dialled.send({ type: 'received', id });
    dialled.send(blockOf(7));
    dialled.close('going home');
    const received = receive(accepted);
    await until(() => expect(received.ends).toEqual(['going home']));
    expect(received.messages).toHaveLength(51);
  });

  test('a block arrives in memory of its own, whatever its size', async () => {
    const { dialled, accepted } = await openPair();
    const received = receive(accepted);
    for (const length of [0, 1, 4_096, 70_000, blockBytes]) {
      dialled.send({ type: 'block', id: length, bytes: new Uint8Array(length).fill(length % 251) });
    }
    await until(() => expect(received.messages).toHaveLength(5));
    for (const message of received.messages) {
      if (message.type !== 'block') throw new Error(message.type);
      expect(message.bytes).toHaveLength(message.id);
      expect(message.bytes.every((byte) => byte === message.id % 251)).toBe(true);
      expect(message.bytes.buffer.byteLength - message.bytes.byteOffset).toBe(message.id);
      structuredClone(message.bytes, { transfer: [message.bytes.buffer as ArrayBuffer] });
    }
  });

  test('closed is called once, on both sides, whoever closes', async () => {
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

  test('a network that closes tells its peers and frees its port', async () => {
    const { a, b, dialled } = await openPair();
    const received = receive(dialled);
    await b.network.close();
    await until(() => expect(received.ends).toEqual(['the agent stops']));
    await expect(a.network.dial(b.address)).rejects.toMatchObject({ code: 'unreachable' });
    await openTestNetwork(bee, { listen: b.network.address });
  });

  test('sessions that open before onLink wait for it', async () => {
    const b = await openNetwork({ identity: bee, clusterKey, listen: { host: '127.0.0.1', port: 0 }, log });
    closing.push(() => b.close());
    const a = await openTestNetwork(ant);
    await a.network.dial(formatAddress(b.address));
    const peers: string[] = [];
    b.onLink((link) => peers.push(link.peer));
    await until(() => expect(peers).toEqual([ant.memberId]));
  });

  test('a peer that does not read: the queue grows, and drains when it reads again', async () => {
    const { dialled, accepted } = await openPair();
    let drained = 0;
    const blocks = 64;
    for (let index = 0; index < blocks; index++) dialled.send(blockOf(index));
    // More than the kernel takes on loopback, and the other side has not called start.
    await until(() => expect(dialled.queuedBytes()).toBeGreaterThan(sendQueueBytesMax));
    dialled.whenDrained(() => drained++);
    expect(drained).toBe(0);
    const received = receive(accepted);
    await until(() => expect(drained).toBe(1));
    expect(dialled.queuedBytes()).toBeLessThan(sendQueueBytesMax / 2);
    await until(() => expect(received.messages).toHaveLength(blocks));
    dialled.whenDrained(() => drained++);
    expect(drained).toBe(2);
  });

  test('[MB5] blocks are overtaken by all other messages, and by no other block', async () => {
    const { dialled, accepted } = await openPair();
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.send({ type: 'heartbeat-reply', id: 1 });
    dialled.send({ type: 'heartbeat-reply', id: 2 });
    const { messages } = receive(accepted);
    await until(() => expect(messages).toHaveLength(66));
    const blocks = messages.filter((message) => message.type === 'block');
    expect(blocks.map((message) => message.id)).toEqual([...Array(64).keys()]);
    const at = messages.findIndex((message) => message.type === 'heartbeat-reply');
    expect(at).toBeLessThan(32);
    expect(messages[at + 1]).toEqual({ type: 'heartbeat-reply', id: 2 });
  });

  test('whenDrained is not called after the link closed', async () => {
    const { dialled } = await openPair();
    const received = receive(dialled);
    let drained = 0;
    for (let index = 0; index < 64; index++) dialled.send(blockOf(index));
    dialled.whenDrained(() => drained++);
    dialled.close('enough');
    await until(() => expect(received.ends).toEqual(['enough']));
    expect(drained).toBe(0);
  });
});

describe('[MB3] a handshake is refused', () => {
  test('with another cluster key, and both sides say so', async () => {
    const a = await openTestNetwork(ant, { clusterKey: createClusterKey() });
    const b = await openTestNetwork(bee);
    await expect(a.network.dial(b.address)).rejects.toMatchObject({
      code: 'cluster-mismatch',
      message: `No session with ${b.address}: the cluster keys differ: compare .lockstep/cluster.key on both members.`,
    });
    await until(() => expect(b.refusals).toEqual([expect.stringContaining('the cluster keys differ')]));
    expect(b.links).toHaveLength(0);
  });

  test.each([
    {
      ours: { min: 1, max: 1 },
      theirs: { min: 2, max: 3 },
      says: 'dialler speaks protocol 1, the listener 2 to 3',
      upgrade: 'dialler',
    },
    {
      ours: { min: 2, max: 2 },
      theirs: { min: 1, max: 1 },
      says: 'dialler speaks protocol 2, the listener 1',
      upgrade: 'listener',
    },
  ])(
    'between protocols $ours and $theirs, and both sides say what to upgrade',
    async ({ ours, theirs, says, upgrade }) => {
      const a = await openTestNetwork(ant, { protocol: ours });
      const b = await openTestNetwork(bee, { protocol: theirs });
      const message = expect.stringMatching(`${says}: upgrade Lockstep on the ${upgrade}`);
      await expect(a.network.dial(b.address)).rejects.toMatchObject({ code: 'protocol-mismatch', message });
      await until(() => expect(b.refusals).toEqual([message]));
    },
  );

  test('versions that overlap suffice', async () => {
    const a = await openTestNetwork(ant, { protocol: { min: 1, max: 2 } });
    const b = await openTestNetwork(bee, { protocol: { min: 2, max: 4 } });
    await expect(a.network.dial(b.address)).resolves.toMatchObject({ peer: bee.memberId });
  });

  test('with ourselves', async () => {
    const a = await openTestNetwork(ant);
    await expect(a.network.dial(a.address)).rejects.toMatchObject({ code: 'self-dialled' });
    expect(a.refusals).toEqual([]);
  });

  test('with a copy of ourselves', async () => {
    const a = await openTestNetwork(ant);
    const copy = await openTestNetwork(ant);
    await expect(a.network.dial(copy.address)).rejects.toMatchObject({ code: 'copied-state' });
    await until(() => expect(copy.refusals).toEqual([expect.stringContaining('one identity')]));
  });
});

describe('dialling', () => {
  async function openPlainServer(serve: (socket: Socket) => void): Promise<string> {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      closing.push(() => {
        socket.destroy();
      });
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(() => resolve())));
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    return `127.0.0.1:${bound.port}`;
  }

  test.each([
    ['localhost', 'config-invalid', 'write host:port'],
    ['localhost:0', 'config-invalid', 'write host:port'],
    ['a b:7000', 'config-invalid', 'write host:port'],
    ['::1:7000', 'config-invalid', 'write host:port'],
    ['no-such-host.invalid:7000', 'unreachable', 'name'],
  ])('%s: %s', async (address, code, says) => {
    const a = await openTestNetwork(ant);
    await expect(a.network.dial(address)).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });

  test('a port where nobody listens', async () => {
    const a = await openTestNetwork(ant);
    const b = await openTestNetwork(bee);
    await b.network.close();
    await expect(a.network.dial(b.address)).rejects.toMatchObject({
      code: 'unreachable',
      message: `No session with ${b.address}: nobody listens there: is lockstep up running on it, and is the port right?`,
    });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['speaks something else', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['speaks plain HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('a port where somebody %s', async (_what, serve) => {
    const a = await openTestNetwork(ant);
    const address = await openPlainServer(serve);
    await expect(a.network.dial(address)).rejects.toMatchObject({
      code: 'handshake-failed',
      message: expect.stringContaining('Does a Lockstep member listen there?'),
    });
  });

  test('a port where nobody answers', async () => {
    const a = await openTestNetwork(ant, { handshakeTimeoutMs: 100 });
    const address = await openPlainServer(() => {});
    await expect(a.network.dial(address)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('did not answer within 0.1 s'),
    });
  });

  test('is given up when the network closes', async () => {
    const a = await openTestNetwork(ant);
    const address = await openPlainServer(() => {});
    const dialling = a.network.dial(address);
    const result = expect(dialling).rejects.toMatchObject({ code: 'unreachable' });
    await a.network.close();
    await result;
  });
});

describe('listening', () => {
  test('a port in use is named', async () => {
    const a = await openTestNetwork(ant);
    const { port } = a.network.address;
    await expect(openTestNetwork(bee, { listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'port-in-use',
      message: expect.stringContaining(`Port ${port} is in use`),
    });
  });

  test('an address that this machine does not have is named', async () => {
    await expect(openTestNetwork(bee, { listen: { host: '192.0.2.1', port: 0 } })).rejects.toMatchObject({
      code: 'config-invalid',
    });
  });

  async function untilClosed(socket: Socket): Promise<void> {
    socket.on('error', () => {});
    socket.resume();
    if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  }

  async function stillServes(server: { address: string }): Promise<void> {
    const a = await openTestNetwork(ant);
    await expect(a.network.dial(server.address)).resolves.toMatchObject({ peer: bee.memberId });
  }

  test('garbage instead of TLS ends that connection only', async () => {
    const b = await openTestNetwork(bee);
    const socket = connectTcp(b.network.address);
    socket.write(Buffer.alloc(1_000, 'garbage'));
    await untilClosed(socket);
    await stillServes(b);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['nothing', () => {}],
    ['half a TLS record', (socket) => socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0]))],
  ])('a connection that sends %s is dropped after the time allowed', async (_what, begin) => {
    const b = await openTestNetwork(bee, { handshakeTimeoutMs: 750 });
    const socket = connectTcp(b.network.address);
    begin(socket);
    await untilClosed(socket);
    await stillServes(b);
  });

  function connectTlsTo(network: OpenNetwork, identity?: Identity): Promise<TLSSocket> {
    const credentials = identity === undefined ? {} : { key: identity.key, cert: identity.certificate };
    return new Promise((resolve) => {
      const socket = connectTls({ ...network.address, ...credentials, rejectUnauthorized: false }, () =>
        resolve(socket),
      );
      socket.on('error', () => {});
    });
  }

  test('an HTTP request is told what this is', async () => {
    const b = await openTestNetwork(bee);
    const socket = await connectTlsTo(b.network);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await untilClosed(socket);
    expect(answer).toMatch(/^HTTP\/1.1 426 .*Lockstep member/s);
  });

  test('another path is not found', async () => {
    const b = await openTestNetwork(bee);
    const socket = new WebSocket(`wss://${b.address}/elsewhere`, { rejectUnauthorized: false });
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
    expect(error.message).toContain('404');
  });

  interface Handshake {
    readonly socket: WebSocket;
    readonly closed: Promise<{ code: number; reason: string }>;
  }

  /** A stranger that speaks WebSockets. */
  async function openStranger(network: OpenNetwork, identity?: Identity): Promise<Handshake> {
    const credentials = identity === undefined ? {} : { key: identity.key, cert: identity.certificate };
    const url = `wss://${formatAddress(network.address)}/lockstep/v1`;
    const socket = new WebSocket(url, { ...credentials, rejectUnauthorized: false });
    closing.push(() => socket.terminate());
    socket.on('error', () => {});
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    await new Promise<void>((resolve) => socket.once('open', () => resolve()));
    return { socket, closed };
  }

  const announcement = JSON.stringify({ protocol: { min: 1, max: 1 }, software: 'test', instance: 'stranger' });

  test.each<[string, (string | Buffer)[], string]>([
    ['a binary frame', [Buffer.from('hello')], 'binary'],
    ['no JSON', ['hello'], 'not JSON'],
    ['JSON of something else', ['{"hello":1}'], 'lacks'],
    ['a large frame', ['x'.repeat(2_000)], 'too large'],
    ['a proof that is none', [announcement, '{"proof":"AAAA"}'], 'cluster keys differ'],
    ['an announcement twice', [announcement, announcement], 'lacks'],
  ])('a stranger that sends %s is told off', async (_what, frames, reason) => {
    const b = await openTestNetwork(bee);
    const { socket, closed } = await openStranger(b.network, ant);
    for (const frame of frames) socket.send(frame);
    expect((await closed).reason).toContain(reason);
    await stillServes(b);
  });

  test('a stranger without a certificate is told off', async () => {
    const b = await openTestNetwork(bee);
    const { socket, closed } = await openStranger(b.network);
    socket.send(announcement);
    expect(await closed).toEqual({ code: 4005, reason: 'the dialler showed no certificate' });
  });

  test('a stranger that floods is cut off', async () => {
    const b = await openTestNetwork(bee);
    const { socket, closed } = await openStranger(b.network, ant);
    socket.send(Buffer.alloc(frameBytesMax));
    expect((await closed).code).toBe(1006);
    await stillServes(b);
  });

  test('a stranger that stops after the announcement is dropped after the time allowed', async () => {
    const b = await openTestNetwork(bee, { handshakeTimeoutMs: 750 });
    const { socket, closed } = await openStranger(b.network, ant);
    socket.send(announcement);
    expect((await closed).code).toBe(1006);
  });

  test('many strangers at one time do not keep a member out', async () => {
    const b = await openTestNetwork(bee);
    const strangers = Array.from({ length: 200 }, () => connectTcp(b.network.address));
    for (const stranger of strangers) {
      stranger.on('error', () => {});
      closing.push(() => {
        stranger.destroy();
      });
    }
    await Promise.race(strangers.slice(0, 10).map(untilClosed));
    await stillServes(b);
  });
});

describe('[SY6] a bad frame ends its session, and the agent goes on', () => {
  /** A member that proves who it is and then sends frames as they are given. */
  async function openRaw() {
    const b = await openTestNetwork(bee);
    const credentials = { identity: ant, clusterKey, protocol: { min: 1, max: 1 }, instance: 'raw' };
    const { socket } = await new Promise<{ socket: WebSocket }>((opened, failed) => {
      openConnection({ address: b.address, credentials, handshakeTimeoutMs: 5_000, opened, failed });
    });
    closing.push(() => socket.terminate());
    socket.on('error', () => {});
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    const accepted = await until(() => {
      const [link] = b.links;
      if (link === undefined) throw new Error('no session yet');
      return link;
    });
    return { b, socket, closed, received: receive(accepted) };
  }

  const [leave] = encodeMessage({ type: 'leave', retire: true });
  const nothing = { vector: {}, ranges: {} };
  const foreign: PeerMessage = {
    type: 'hello',
    name: 'ant',
    addresses: [],
    origin: originId(bee.memberId, 'aaaaaaaa'),
    known: {},
    applied: nothing,
    state: 'joining',
    software: '0.1.0',
  };

  test.each<[string, string | Buffer, string]>([
    ['text', 'hello', 'frame is text'],
    ['an empty frame', Buffer.alloc(0), 'header is cut short'],
    ['garbage', Buffer.from('garbage'), 'header has the format version 103, not 1'],
    ['an unknown message type', Buffer.from([1, 200]), 'header has the unknown message type 200'],
    ['a truncated frame', leave.subarray(0, -1), 'leave: the body is cut short'],
    [
      'a frame with something behind it',
      Buffer.concat([leave, Buffer.alloc(3)]),
      'leave: the body is followed by 3 bytes',
    ],
    ['the origin of another member', encodeMessage(foreign)[0], 'hello.origin belongs to another member'],
  ])('%s', async (_what, frame, fault) => {
    const { b, socket, closed, received } = await openRaw();
    socket.send(leave);
    socket.send(frame);
    socket.send(leave);
    await until(() => expect(received.ends).toEqual([`invalid frame: ${fault}`]));
    expect(received.messages).toEqual([{ type: 'leave', retire: true }]);
    expect(await closed).toEqual({ code: 4006, reason: `invalid frame: ${fault}` });
    const again = await openTestNetwork(ant);
    await expect(again.network.dial(b.address)).resolves.toMatchObject({ peer: bee.memberId });
  });

  test('a frame that is too large', async () => {
    const { socket, closed, received } = await openRaw();
    socket.send(Buffer.alloc(frameBytesMax + 1));
    await until(() => expect(received.ends).toEqual([`it sent a frame of more than ${frameBytesMax} bytes`]));
    expect((await closed).code).toBe(1009);
  });

  test('a message in many frames', async () => {
    const { socket, received } = await openRaw();
    socket.send(leave.subarray(0, 3), { fin: false });
    socket.send(leave.subarray(3, 5), { fin: false });
    socket.send(leave.subarray(5), { fin: true });
    await until(() => expect(received.ends).toEqual([expect.stringContaining('broke the WebSocket protocol')]));
  });

  test('a connection that breaks', async () => {
    const { socket, received } = await openRaw();
    socket.terminate();
    await until(() => expect(received.ends).toEqual([expect.stringContaining('the connection was lost')]));
  });
});

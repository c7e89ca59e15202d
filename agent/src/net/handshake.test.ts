import { createServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { frameBytesMax, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { afterTest, ant, bee, openTestNetwork, until } from '../../test/support/networks.ts';
import { formatAddress } from './address.ts';
import { createClusterKey } from './keys/cluster-key.ts';
import { createIdentity, type Identity } from './keys/identity.ts';
import type { OpenNetwork } from './network.ts';

describe('[MB3] a handshake is refused', () => {
  test('with another cluster key, and both sides report it', async () => {
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

describe('[MB3] a stranger without the key that repeats messages of others is refused', () => {
  /** A listener with an identity of its own that answers each frame of a dialler with `serve`. */
  async function openImpostor(serve: (socket: WebSocket) => void): Promise<string> {
    const { key, certificate: cert } = await createIdentity();
    const server = createServer({ key, cert, requestCert: true, rejectUnauthorized: false });
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => {
      afterTest(() => socket.terminate());
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    afterTest(() => new Promise((resolve) => server.close(() => resolve())));
    return formatAddress({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  }

  test('a listener that sends everything back', async () => {
    const a = await openTestNetwork(ant);
    const address = await openImpostor((socket) => socket.on('message', (data) => socket.send(data.toString())));
    await expect(a.network.dial(address)).rejects.toMatchObject({ code: 'cluster-mismatch' });
  });

  test('a man in the middle that forwards everything', async () => {
    const a = await openTestNetwork(ant);
    const b = await openTestNetwork(bee);
    const { key, certificate: cert } = await createIdentity();
    const address = await openImpostor((socket) => {
      const onward = new WebSocket(`wss://${b.address}/lockstep/v1`, { key, cert, rejectUnauthorized: false });
      onward.on('message', (data) => socket.send(data.toString()));
      onward.on('close', (code, reason) => socket.close(code, reason));
      onward.once('open', () => socket.on('message', (data) => onward.send(data.toString())));
      socket.pause();
      onward.once('open', () => socket.resume());
    });
    await expect(a.network.dial(address)).rejects.toMatchObject({ code: 'cluster-mismatch' });
    await until(() => expect(b.refusals).toEqual([expect.stringContaining('the cluster keys differ')]));
    expect(b.links).toHaveLength(0);
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
    const b = await openTestNetwork(bee, { handshakeTimeoutMs: 2_000 });
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

  test('an HTTP request gets an explanation', async () => {
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

  /** A stranger that speaks WebSocket. */
  async function openStranger(network: OpenNetwork, identity?: Identity): Promise<Handshake> {
    const credentials = identity === undefined ? {} : { key: identity.key, cert: identity.certificate };
    const url = `wss://${formatAddress(network.address)}/lockstep/v1`;
    const socket = new WebSocket(url, { ...credentials, rejectUnauthorized: false });
    afterTest(() => socket.terminate());
    socket.on('error', () => {});
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    await new Promise<void>((resolve) => socket.once('open', () => resolve()));
    return { socket, closed };
  }

  const protocol = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };
  const announcement = JSON.stringify({ protocol, software: 'test', instance: 'stranger' });

  test.each<[string, (string | Buffer)[], string]>([
    ['a binary frame', [Buffer.from('hello')], 'binary'],
    ['no JSON', ['hello'], 'not JSON'],
    ['JSON of something else', ['{"hello":1}'], 'lacks'],
    ['a large frame', ['x'.repeat(2_000)], 'too large'],
    ['a proof that is none', [announcement, '{"proof":"AAAA"}'], 'cluster keys differ'],
    ['an announcement twice', [announcement, announcement], 'lacks'],
  ])('a stranger that sends %s gets the reason', async (_what, frames, reason) => {
    const b = await openTestNetwork(bee);
    const { socket, closed } = await openStranger(b.network, ant);
    for (const frame of frames) socket.send(frame);
    expect((await closed).reason).toContain(reason);
    await stillServes(b);
  });

  test('a stranger without a certificate gets the reason', async () => {
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

  test('a stranger that stops after the announcement is dropped at the deadline', async () => {
    const b = await openTestNetwork(bee, { handshakeTimeoutMs: 2_000 });
    const { socket, closed } = await openStranger(b.network, ant);
    socket.send(announcement);
    expect((await closed).code).toBe(1006);
  });

  test('many strangers at once do not keep a member out', async () => {
    const b = await openTestNetwork(bee);
    const strangers = Array.from({ length: 200 }, () => connectTcp(b.network.address));
    for (const stranger of strangers) {
      stranger.on('error', () => {});
      afterTest(() => {
        stranger.destroy();
      });
    }
    await Promise.race(strangers.slice(0, 10).map(untilClosed));
    await stillServes(b);
  });
});

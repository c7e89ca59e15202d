import { randomBytes } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { blockBytes, type PeerMessage, PROTOCOL_VERSION } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import {
  afterTest,
  ant,
  bee,
  clusterKey,
  firstOf,
  openPair,
  openTestNetwork,
  receive,
  until,
} from '../../test/support/networks.ts';
import { openConnection } from './dial.ts';
import { readFrames } from './frame-reader.ts';
import { encodeMessage } from './messages/codec.ts';

/** A connection to a network whose frames are sent by the test. */
async function openRaw() {
  const b = await openTestNetwork(bee);
  const credentials = {
    identity: ant,
    clusterKey,
    protocol: { min: PROTOCOL_VERSION, max: PROTOCOL_VERSION },
    instance: 'raw',
  };
  const { socket, tls } = await new Promise<{ socket: WebSocket; tls: TLSSocket }>((opened, failed) => {
    openConnection({ address: b.address, credentials, handshakeTimeoutMs: 5_000, opened, failed });
  });
  afterTest(() => socket.terminate());
  socket.on('error', () => {});
  return { socket, tls, received: receive(await firstOf(b.links)) };
}

const block = (id: number, length: number): PeerMessage => ({ type: 'block', id, bytes: randomBytes(length) });

describe('[CT27] the frames of a session', () => {
  test('are read without garbage by the installed releases of Node and ws', async () => {
    const { socket, tls } = await openRaw();
    expect(readFrames(socket, tls, () => undefined)).toBe(true);
  });

  test('are read as usual if a private member is missing', async () => {
    const { socket, tls } = await openRaw();
    expect(readFrames({} as WebSocket, tls, () => undefined)).toBe(false);
    expect(readFrames(socket, {} as TLSSocket, () => undefined)).toBe(false);
    expect(readFrames({ _receiver: { consume: () => undefined } } as never, tls, () => undefined)).toBe(false);
  });

  test('arrive as they were sent, whatever their sizes', async () => {
    const { dialled, accepted } = await openPair();
    receive(dialled);
    const received = receive(accepted);
    const lengths = [0, 1, 125, 126, 65_535, 65_536, 65_537, blockBytes - 1, blockBytes];
    const sizes = Array.from({ length: 120 }, (_, id) => lengths[id % lengths.length] ?? (id * 7_919) % 200_000);
    const sent = sizes.map((size, id) => block(id, size));
    const expected = new Map(sent.map((message) => [message.type === 'block' && message.id, copyOf(message)]));
    for (const message of sent) dialled.send(message);
    await until(() => expect(received.messages).toHaveLength(sent.length));
    for (const message of received.messages) {
      if (message.type !== 'block') throw new Error(message.type);
      const bytes = expected.get(message.id);
      expect(bytes !== undefined && Buffer.compare(message.bytes, bytes) === 0).toBe(true);
    }
  });

  test('may be cut anywhere by the network, and masked', async () => {
    const { socket, tls, received } = await openRaw();
    // The frames of the session itself have a mask of zeros.
    Object.assign((socket as unknown as { _sender: object })._sender, { _generateMask: undefined });
    const messages = [block(1, 70_000), block(2, 3), block(3, 200_000)];
    const expected = messages.map(copyOf);
    const write = tls.write.bind(tls);
    tls.write = ((data: Uint8Array, ...rest: never[]) => {
      // Each write becomes a record of its own, so that headers are cut too.
      for (let at = 0; at < Math.min(data.length, 40); at++) write(data.subarray(at, at + 1));
      return write(data.subarray(40), ...rest);
    }) as never;
    for (const message of messages) {
      const [header, bytes] = encodeMessage(message);
      socket.send(header, { binary: true, fin: false });
      socket.send(bytes ?? header, { binary: true });
    }
    await until(() => expect(received.messages).toHaveLength(messages.length));
    expect(
      received.messages.map((message) => Buffer.compare(copyOf(message), expected.shift() ?? Buffer.of())),
    ).toEqual(messages.map(() => 0));
  });
});

function copyOf(message: PeerMessage): Buffer {
  if (message.type !== 'block') throw new Error(message.type);
  return Buffer.from(message.bytes);
}

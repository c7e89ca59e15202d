import { frameBytesMax, originId, type PeerMessage, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import {
  afterTest,
  ant,
  bee,
  clusterKey,
  firstOf,
  openTestNetwork,
  receive,
  until,
} from '../../test/support/networks.ts';
import { openConnection } from './dial.ts';
import { encodeMessage } from './messages/codec.ts';
import { encodeArrived } from './pieces.ts';

const protocol = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };

describe('[SY6] a bad frame ends its session, and the agent goes on', () => {
  /** A member that completes the handshake and then sends frames as they are given. */
  async function openRaw() {
    const b = await openTestNetwork(bee);
    const credentials = { identity: ant, clusterKey, protocol, instance: 'raw' };
    const { socket } = await new Promise<{ socket: WebSocket }>((opened, failed) => {
      openConnection({ address: b.address, credentials, handshakeTimeoutMs: 5_000, opened, failed });
    });
    afterTest(() => socket.terminate());
    socket.on('error', () => {});
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    const accepted = await firstOf(b.links);
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
    marks: new Uint8Array(0),
    applied: nothing,
    sealed: {},
    state: 'joining',
    software: '0.1.0',
  };

  test.each<[string, string | Buffer, string]>([
    ['text', 'hello', 'frame is text'],
    ['an empty frame', Buffer.alloc(0), 'header is cut short'],
    ['garbage', Buffer.from('garbage'), 'header has the format version 103, not 1'],
    ['an unknown message type', Buffer.from([1, 200]), 'header has the unknown message type 200'],
    [
      'a report of bytes that were not sent',
      encodeArrived({ totalBytes: 10 ** 9, delayMs: 0 }),
      'arrived counts bytes that were not sent',
    ],
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

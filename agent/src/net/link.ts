import type { TLSSocket } from 'node:tls';
import {
  type BlockMessage,
  type BulkLane,
  type Compression,
  frameBytesMax,
  LockstepError,
  laneOf,
  type MemberId,
  memberOf,
  type PeerMessage,
} from '@lockstep/shared';
import type { RawData, WebSocket } from 'ws';
import { CompressionRule } from '../core/traffic/compression.ts';
import { arrivalBytes } from '../core/traffic/send-window.ts';
import type { BlockBuffers } from '../os/block-buffers.ts';
import type { Log } from '../sync/ports/log.ts';
import type { Link, LinkReceiver } from '../sync/ports/network.ts';
import { closeCodes, closeReason, printable } from './close-code.ts';
import { frameFault } from './frame-fault.ts';
import { readFrames } from './frame-reader.ts';
import { decodeMessage, encodeMessage } from './messages/codec.ts';
import { isPacked, packBlock, unpackBlock } from './packed-block.ts';
import { Assembly, decodeArrived, type Frames, lengthOf, sessionKindOf } from './pieces.ts';
import { ReadDelay } from './read-delay.ts';
import { SendQueue } from './send-queue.ts';

interface LinkOptions {
  readonly socket: WebSocket;
  readonly tls: TLSSocket;
  readonly peer: MemberId;
  readonly dialled: boolean;
  readonly remote: string;
  readonly log: Log;
  /** The memory for blocks. */
  readonly buffers: BlockBuffers;
  readonly compression: Compression;
}

/** A session over an authenticated WebSocket. */
export class SocketLink implements Link {
  readonly peer: MemberId;
  readonly dialled: boolean;
  readonly remote: string;
  readonly #socket: WebSocket;
  readonly #tls: TLSSocket;
  readonly #queue: SendQueue;
  readonly #log: Log;
  readonly #readDelay = new ReadDelay();
  readonly #buffers: BlockBuffers;
  readonly #assembly: Assembly;
  readonly #compression: CompressionRule;
  /** Bytes of bulk messages that have arrived, and that were reported. */
  #arrivedBytes = 0;
  #reportedBytes = 0;
  /** Bytes by which compressed blocks have grown here. */
  #unpackedBytes = 0;
  #receiver: LinkReceiver | undefined;
  /** Messages that one read brought before `start`. The socket is then paused, so they are limited to that read. */
  #early: PeerMessage[] = [];
  #endReason: string | undefined;
  #isClosedHere = false;
  #isEndReported = false;
  #isFault = false;
  #socketError = '';
  #brokeProtocol = false;

  constructor({ socket, tls, peer, dialled, remote, log, buffers, compression }: LinkOptions) {
    this.#socket = socket;
    this.#tls = tls;
    this.#queue = new SendQueue(socket, tls);
    this.#log = log;
    this.#buffers = buffers;
    this.#assembly = new Assembly(buffers);
    // Both ends have the same address only on one machine.
    this.#compression = new CompressionRule(compression, tls.remoteAddress === tls.localAddress);
    this.peer = peer;
    this.dialled = dialled;
    this.remote = remote;
    // The frames are not joined: the bytes of a block are a frame of their own.
    socket.binaryType = 'fragments';
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    const onError = (error: Error): void => {
      this.#socketError = socketErrorText(error);
      this.#brokeProtocol = (error as NodeJS.ErrnoException).code?.startsWith('WS_ERR') === true;
    };
    socket.on('error', onError);
    tls.on('error', onError);
    socket.on('close', (code, reason) => this.#onClose(code, printable(reason.toString('utf8'))));
    socket.pause();
    readFrames(socket, tls, (earlier, length) => this.#assembly.place(earlier, length));
  }

  /** Sends a message. Its byte arrays are not copied. The memory of a block is given back when it is sent. */
  send(message: PeerMessage): void {
    if (this.#endReason !== undefined) return;
    const isTried =
      message.type === 'block' && this.#compression.wants(message.bytes.length, this.#queue.bytesPerSecond);
    if (isTried) void this.#pack(message);
    else this.#queueWhole(message);
  }

  #queueWhole(message: PeerMessage): void {
    const about =
      message.type === 'block' ? { id: message.id, sent: () => this.#buffers.giveBack(message.bytes) } : undefined;
    this.#queue.send(encodeMessage(message), laneOf(message.type), about);
  }

  /** Sends a block, compressed if it becomes smaller. Other blocks may overtake it. */
  async #pack(message: BlockMessage): Promise<void> {
    const release = this.#queue.reserve(message.bytes.length);
    let frames: Frames | undefined;
    try {
      frames = await packBlock(message, this.#compression);
    } catch (error) {
      this.#log.error({ peer: this.peer, error: String(error) }, 'compressing a block failed');
    }
    if (this.#endReason !== undefined) return;
    release();
    if (frames === undefined) return this.#queueWhole(message);
    this.#buffers.giveBack(message.bytes);
    this.#queue.send(frames, 'blocks', { id: message.id });
  }

  withdraw(ids: ReadonlySet<number>): readonly number[] {
    return this.#queue.withdraw(ids);
  }

  receivedBytes(): number {
    return this.#tls.bytesRead + this.#unpackedBytes;
  }

  partialBlockBytes(): number {
    return this.#assembly.blockBytes();
  }

  queuedBytes(lane?: BulkLane): number {
    return this.#queue.queuedBytes(lane);
  }

  whenDrained(lane: BulkLane, run: () => void): void {
    if (this.#endReason === undefined) this.#queue.whenDrained(lane, run);
  }

  whenSent(run: () => void): void {
    if (this.#endReason === undefined) this.#queue.whenSent(run);
  }

  start(receiver: LinkReceiver): void {
    if (this.#receiver !== undefined) throw new Error('The link has been started already.');
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    for (const message of early) {
      // The receiver may close the link at any message; messages that came before the other side closed it are delivered.
      if (this.#isClosedHere) break;
      receiver.message(message);
    }
    if (this.#endReason === undefined) this.#socket.resume();
    else this.#reportEnd();
  }

  close(reason: string, isFault = false): void {
    this.#closeWith(isFault ? closeCodes.sessionFault : closeCodes.normal, reason);
  }

  /** Closes the session because the whole agent stops. */
  goAway(): void {
    this.#closeWith(closeCodes.goingAway, 'the agent stops');
  }

  #closeWith(code: number, reason: string): void {
    if (this.#endReason !== undefined) return;
    this.#isClosedHere = true;
    this.#queue.flush();
    // Only a socket that is read receives the other side's close frame.
    this.#socket.resume();
    this.#socket.close(code, closeReason(reason));
    this.#end(reason, faultCodes.has(code));
  }

  #end(reason: string, isFault: boolean): void {
    this.#endReason = reason;
    this.#isFault = isFault;
    this.#queue.end();
    this.#reportEnd();
  }

  /** Reports the end in a microtask, so that a caller of `close` has done its work before. */
  #reportEnd(): void {
    const receiver = this.#receiver;
    const reason = this.#endReason;
    if (receiver === undefined || reason === undefined || this.#isEndReported) return;
    this.#isEndReported = true;
    queueMicrotask(() => receiver.closed(reason, this.#isFault));
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#endReason !== undefined) return;
    let message: PeerMessage | undefined;
    try {
      message = this.#decode(data, isBinary);
    } catch (error) {
      this.#failOn(error);
      return;
    }
    if (message !== undefined) this.#deliver(message);
  }

  #deliver(message: PeerMessage): void {
    if (this.#receiver === undefined) this.#early.push(message);
    else this.#receiver.message(message);
  }

  /** Delivers a compressed block when it is unpacked. Other messages may overtake it. */
  async #unpack(frames: readonly Buffer[]): Promise<void> {
    try {
      const block = await unpackBlock(frames);
      this.#unpackedBytes += Math.max(0, block.bytes.length - lengthOf(frames));
      if (this.#endReason === undefined) this.#deliver(block);
    } catch (error) {
      if (this.#endReason === undefined) this.#failOn(error);
    }
  }

  /** The message in the frames; undefined if it is not complete yet, or was for the queue. */
  #decode(data: RawData, isBinary: boolean): PeerMessage | undefined {
    if (!isBinary || !Array.isArray(data)) throw frameFault('frame', 'is text');
    const readDelayMs = this.#readDelay.noted();
    const kind = sessionKindOf(data);
    if (kind === 'arrived') {
      this.#queue.arrived(decodeArrived(data), readDelayMs);
      return undefined;
    }
    if (kind === 'piece') this.#noteArrival(data, readDelayMs);
    const frames = kind === 'piece' ? this.#assembly.add(data) : data;
    if (frames === undefined) return undefined;
    if (isPacked(frames)) {
      if (kind === undefined) this.#noteArrival(data, readDelayMs);
      void this.#unpack(frames);
      return undefined;
    }
    const message = decodeMessage(frames);
    if (kind === undefined && laneOf(message.type) !== 'signals') this.#noteArrival(data, readDelayMs);
    if (message.type === 'hello' && memberOf(message.origin) !== this.peer) {
      throw frameFault('hello.origin', 'belongs to another member');
    }
    return message;
  }

  /** Counts the bytes of a bulk message, and reports them: the other side sends no more than the connection takes. */
  #noteArrival(frames: readonly Buffer[], readDelayMs: number): void {
    this.#arrivedBytes += lengthOf(frames);
    if (this.#arrivedBytes - this.#reportedBytes < arrivalBytes) return;
    this.#reportedBytes = this.#arrivedBytes;
    this.#queue.report({ totalBytes: this.#arrivedBytes, delayMs: readDelayMs });
  }

  /** Ends the session after any error of the decoder; the agent continues. */
  #failOn(error: unknown): void {
    const fields = { peer: this.peer, remote: this.remote };
    if (!(error instanceof LockstepError)) this.#log.error({ ...fields, error }, 'decoding a frame failed');
    const what = error instanceof LockstepError ? error.message : 'it cannot be decoded';
    const isTooLarge = error instanceof LockstepError && error.code === 'frame-too-large';
    this.#log.warn(fields, `ended a session: invalid frame: ${what}`);
    this.#closeWith(isTooLarge ? closeCodes.tooLarge : closeCodes.frameInvalid, `invalid frame: ${what}`);
  }

  #onClose(code: number, said: string): void {
    if (this.#endReason !== undefined) return;
    // After a close frame the connection may still be reset, by what was on its way to a side that had closed it.
    const isCut = code === closeCodes.abnormal || this.#brokeProtocol;
    if (isCut && this.#socketError !== '') this.#end(this.#socketError, this.#brokeProtocol);
    else if (code === closeCodes.frameInvalid || code === closeCodes.tooLarge)
      this.#end(`it refused a frame from here: ${said}`, true);
    else this.#end(said === '' ? 'the connection was lost' : said, faultCodes.has(code));
  }
}

/** The close codes after which another session of the two members is likely to fail too. */
const faultCodes: ReadonlySet<number> = new Set([
  closeCodes.frameInvalid,
  closeCodes.tooLarge,
  closeCodes.sessionFault,
]);

function socketErrorText(error: NodeJS.ErrnoException): string {
  if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return `it sent a frame of more than ${frameBytesMax} bytes`;
  if (error.code?.startsWith('WS_ERR') === true) return `it broke the WebSocket protocol: ${error.message}`;
  return `the connection was lost (${error.code ?? error.message})`;
}

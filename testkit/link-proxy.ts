import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The state of a link: it works, it refuses and resets connections, or it keeps them open and forwards nothing. */
export type LinkState = 'open' | 'cut' | 'half-open';

/** The effect of a link on the bytes that it forwards. */
export interface LinkShape {
  /** The delay of everything. */
  readonly delayMs?: number;
  /** The bandwidth in each direction. */
  readonly bytesPerSecond?: number;
  /** This share of the chunks, and everything after them, is delayed further by `ms`, as after a lost packet. */
  readonly stalls?: { readonly share: number; readonly ms: number };
}

/**
 * The bytes that a link holds: those under way and those in the queue of its bottleneck, as in a home router. Beyond it the sender has to
 * wait, and what it has already written stays in its socket's buffer.
 */
const inFlightBytesMax = 256 * 1024;

/** On a link with a bandwidth, bytes travel in packets: the first ones of a write arrive before the last ones have left. */
const packetBytes = 1_500;

/** A TCP proxy between two members for one direction of dialling. It can be cut, half-open, delayed and slow. */
export class LinkProxy {
  readonly #server: Server;
  readonly #targetPort: () => number;
  readonly #sockets = new Set<Socket>();
  #state: LinkState = 'open';
  #shape: LinkShape = {};
  /** The number of bytes forwarded since the start, in both directions. */
  bytes = 0;
  /** The number of connections forwarded since the start. */
  connections = 0;

  private constructor(server: Server, targetPort: () => number) {
    this.#server = server;
    this.#targetPort = targetPort;
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** Listens on a free port of the loopback interface and forwards to `targetPort`, which is read at each connection. */
  static async open(targetPort: () => number): Promise<LinkProxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new LinkProxy(server, targetPort);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the state. Cutting resets all connections; so does the change from half-open to open, as after a lost route. */
  set(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state === 'cut' || (before === 'half-open' && state === 'open')) this.#reset();
    else if (state === 'half-open') for (const socket of this.#sockets) socket.pause();
  }

  /** Sets the shape for bytes that arrive from now on. */
  shape(shape: LinkShape): void {
    this.#shape = shape;
  }

  async close(): Promise<void> {
    this.#reset();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #reset(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #accept(socket: Socket): void {
    if (this.#state === 'cut') {
      socket.destroy();
      return;
    }
    this.#track(socket);
    if (this.#state === 'half-open') return;
    this.connections += 1;
    const target = connect({ port: this.#targetPort(), host: '127.0.0.1', allowHalfOpen: true });
    this.#track(target);
    this.#pass(socket, target);
    this.#pass(target, socket);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #pass(from: Socket, to: Socket): void {
    const line = new DelayLine();
    let freeAtMs = 0;
    let inFlightBytes = 0;
    const later = (bytes: number, isFirst: boolean, run: () => void): void => {
      const { delayMs = 0, bytesPerSecond, stalls } = this.#shape;
      freeAtMs = Math.max(freeAtMs, performance.now());
      if (bytesPerSecond !== undefined) freeAtMs += (bytes / bytesPerSecond) * 1_000;
      if (isFirst && stalls !== undefined && Math.random() < stalls.share) freeAtMs += stalls.ms;
      line.put(freeAtMs + delayMs, run);
    };
    const resume = (): void => {
      if (this.#state !== 'half-open' && inFlightBytes < inFlightBytesMax && !to.writableNeedDrain) from.resume();
    };
    to.on('drain', resume);
    const forward = (bytes: Buffer, isFirst: boolean): void => {
      inFlightBytes += bytes.length;
      later(bytes.length, isFirst, () => {
        inFlightBytes -= bytes.length;
        if (!to.destroyed && !to.write(bytes)) from.pause();
        else resume();
      });
    };
    from.on('data', (bytes: Buffer) => {
      this.bytes += bytes.length;
      const unit = this.#shape.bytesPerSecond === undefined ? bytes.length : packetBytes;
      for (let at = 0; at < bytes.length; at += unit) forward(bytes.subarray(at, at + unit), at === 0);
      if (inFlightBytes >= inFlightBytesMax) from.pause();
    });
    from.on('end', () => later(0, true, () => to.end()));
    from.on('close', () => later(0, true, () => to.destroy()));
  }
}

/** A queue that runs tasks at their times and in their order: timers alone may overtake each other by a millisecond. */
class DelayLine {
  readonly #waiting: { readonly atMs: number; readonly run: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Queues `run`. If it is due and the queue is empty, it runs at once. */
  put(atMs: number, run: () => void): void {
    if (this.#waiting.length === 0 && atMs <= performance.now()) run();
    else {
      this.#waiting.push({ atMs, run });
      this.#wake();
    }
  }

  #wake(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      while (this.#waiting[0] !== undefined && this.#waiting[0].atMs <= performance.now()) this.#waiting.shift()?.run();
      this.#wake();
    }, first.atMs - performance.now());
  }
}

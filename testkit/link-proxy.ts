import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** How a link behaves: it works, it refuses and resets, or it stays open and passes nothing on. */
export type LinkState = 'open' | 'cut' | 'half-open';

/** What a link does to the bytes that it passes on. */
export interface LinkShape {
  /** Everything arrives this much later. */
  readonly delayMs?: number;
  /** So much each way. */
  readonly bytesPerSecond?: number;
  /** This share of the pieces, and all behind them, arrives so much later still, as after a lost packet. */
  readonly stalls?: { readonly share: number; readonly ms: number };
}

/** How many bytes of a slow link are on their way; more than that and the sender has to wait, as with a socket's buffer. */
const inFlightBytesMax = 256 * 1024;

/** A TCP proxy between two members, one direction of dialling, that can be cut, go half-open, delay and be slow. */
export class LinkProxy {
  readonly #server: Server;
  readonly #targetPort: () => number;
  readonly #sockets = new Set<Socket>();
  #state: LinkState = 'open';
  #shape: LinkShape = {};
  /** Bytes passed on since the start, both ways. */
  bytes = 0;
  /** Connections passed on since the start. */
  connections = 0;

  private constructor(server: Server, targetPort: () => number) {
    this.#server = server;
    this.#targetPort = targetPort;
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** Listens on a free port of loopback and passes on to `targetPort` there, asked at each connection. */
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

  /** Cutting resets what is open; from half-open back to open what was open is reset too, as after a lost route. */
  set(state: LinkState): void {
    const before = this.#state;
    this.#state = state;
    if (state === 'cut' || (before === 'half-open' && state === 'open')) this.#reset();
    else if (state === 'half-open') for (const socket of this.#sockets) socket.pause();
  }

  /** Applies to what comes from now on. */
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
    const later = (bytes: number, run: () => void): void => {
      const { delayMs = 0, bytesPerSecond, stalls } = this.#shape;
      freeAtMs = Math.max(freeAtMs, performance.now());
      if (bytesPerSecond !== undefined) freeAtMs += (bytes / bytesPerSecond) * 1_000;
      if (stalls !== undefined && Math.random() < stalls.share) freeAtMs += stalls.ms;
      line.put(freeAtMs + delayMs, run);
    };
    const resume = (): void => {
      if (this.#state !== 'half-open' && inFlightBytes < inFlightBytesMax && !to.writableNeedDrain) from.resume();
    };
    to.on('drain', resume);
    from.on('data', (bytes: Buffer) => {
      this.bytes += bytes.length;
      inFlightBytes += bytes.length;
      if (inFlightBytes >= inFlightBytesMax) from.pause();
      later(bytes.length, () => {
        inFlightBytes -= bytes.length;
        if (!to.destroyed && !to.write(bytes)) from.pause();
        else resume();
      });
    });
    from.on('end', () => later(0, () => to.end()));
    from.on('close', () => later(0, () => to.destroy()));
  }
}

/** Does things at their times and in their order: timers alone may overtake each other by a millisecond. */
class DelayLine {
  readonly #waiting: { readonly atMs: number; readonly run: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** What is due already and has nothing before it is done at once. */
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

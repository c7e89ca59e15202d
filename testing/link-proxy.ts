import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** How a link behaves: it works, it refuses and resets, or it stays open and passes nothing on. */
export type LinkState = 'open' | 'cut' | 'half-open';

/** A TCP proxy between two members, one direction of dialling, that can be cut, go half-open, delay and be slow. */
export class LinkProxy {
  readonly #server: Server;
  readonly #targetPort: () => number;
  readonly #sockets = new Set<Socket>();
  /** Those that are not read from for now, because the link is slow. */
  readonly #held = new Set<Socket>();
  #state: LinkState = 'open';
  #delayMs = 0;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  /** Bytes passed on since the start, both ways. */
  bytes = 0;

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

  /** Everything arrives this much later from now on. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** No connection passes on more than this each way from now on; what arrives faster waits at the sender. */
  limit(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
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
    from.on('data', (bytes: Buffer) => {
      this.bytes += bytes.length;
      this.#hold(from, to, (1_000 * bytes.length) / this.#bytesPerSecond);
      this.#later(() => {
        if (!to.destroyed && !to.write(bytes)) {
          from.pause();
          to.once('drain', () => this.#resume(from, to));
        }
      });
    });
    from.on('end', () => this.#later(() => to.end()));
    from.on('close', () => this.#later(() => to.destroy()));
  }

  #hold(from: Socket, to: Socket, timeMs: number): void {
    if (timeMs === 0) return;
    from.pause();
    this.#held.add(from);
    setTimeout(() => {
      this.#held.delete(from);
      this.#resume(from, to);
    }, timeMs).unref();
  }

  #resume(from: Socket, to: Socket): void {
    if (this.#state !== 'half-open' && !this.#held.has(from) && !to.writableNeedDrain) from.resume();
  }

  #later(run: () => void): void {
    // Timers of equal length fire in the order in which they were set, so bytes stay in order; a shorter delay would overtake.
    if (this.#delayMs === 0) run();
    else setTimeout(run, this.#delayMs);
  }
}

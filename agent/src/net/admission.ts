import type { Socket } from 'node:net';
import { formatAddress } from './address.ts';

interface Guest {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
}

/**
 * The connections that others opened and that are not authenticated yet. Each has a deadline, and their number has a limit, so that
 * strangers cannot use up this member's memory or file descriptors.
 */
export class Admission {
  readonly #guests = new Map<string, Guest>();
  readonly #countMax: number;
  readonly #timeoutMs: number;
  readonly #dropped: (remote: string, why: string) => void;

  constructor(options: { countMax: number; timeoutMs: number; dropped: (remote: string, why: string) => void }) {
    this.#countMax = options.countMax;
    this.#timeoutMs = options.timeoutMs;
    this.#dropped = options.dropped;
  }

  /** Admits a connection that was just accepted. */
  enter(socket: Socket): void {
    const remote = remoteOf(socket);
    const [oldest] = this.#guests.keys();
    if (oldest !== undefined && this.#guests.size >= this.#countMax) this.#drop(oldest, 'too many handshakes at once');
    const timer = setTimeout(() => {
      this.#drop(remote, `no handshake within ${this.#timeoutMs / 1_000} s`);
    }, this.#timeoutMs);
    this.#guests.set(remote, { socket, timer });
    socket.once('close', () => this.leave(remote));
  }

  /** Removes the connection from `remote`, which is authenticated or closed. */
  leave(remote: string): void {
    clearTimeout(this.#guests.get(remote)?.timer);
    this.#guests.delete(remote);
  }

  /** Drops all of them. */
  clear(): void {
    for (const remote of [...this.#guests.keys()]) this.#drop(remote, 'this agent is stopping');
  }

  #drop(remote: string, why: string): void {
    const guest = this.#guests.get(remote);
    if (guest === undefined) return;
    this.leave(remote);
    guest.socket.destroy();
    this.#dropped(remote, why);
  }
}

/** The address of the other end of `socket`: while the socket is open no other connection has the same. */
export function remoteOf(socket: Socket): string {
  return formatAddress({ host: socket.remoteAddress ?? 'unknown', port: socket.remotePort ?? 0 });
}

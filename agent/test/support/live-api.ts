import type { IncomingHttpHeaders } from 'node:http';
import { vi } from 'vitest';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { type HttpOptions, type HttpServer, startHttp } from '../../src/http/server.ts';
import type { Engine } from '../../src/sync/engine.ts';
import { ServedCluster } from './served-cluster.ts';

/** Waits until `check` does not throw: long enough for a machine that is busy with other tests. */
export function until<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, 20_000);
}

/** The numbers from `first` to `last`. */
export function upTo(last: number, first = 1): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The API of a simulated member in real time, and readers of its live streams. */
export class LiveApi {
  readonly served: ServedCluster;
  #server: HttpServer;
  readonly #options: HttpOptions;
  readonly cookie: { readonly cookie: string };
  readonly #sockets: WebSocket[] = [];

  private constructor(served: ServedCluster, server: HttpServer, options: HttpOptions) {
    this.served = served;
    this.#server = server;
    this.#options = options;
    this.cookie = served.cookie;
  }

  static async start(more: Partial<HttpOptions> = {}): Promise<LiveApi> {
    const served = await ServedCluster.open();
    const options = { ...served.options, ...more };
    const api = new LiveApi(served, await startHttp(options), options);
    served.cluster.begin();
    return api;
  }

  get engine(): Engine {
    return this.served.engine;
  }

  /** Stops the API as the agent does when it stops. */
  closeServer(): Promise<void> {
    return this.#server.close();
  }

  /** Starts the API again after `closeServer`. */
  async reopenServer(): Promise<void> {
    this.#server = await startHttp(this.#options);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.closeServer();
  }

  /** The answer to a browser that is logged in. */
  fetch(path: string): Promise<Response> {
    return fetch(this.url(path), { headers: this.cookie });
  }

  url(path: string): string {
    return `${this.#server.url}api/v1/${path}`;
  }

  /** Opens a reader of the stream at `path`, and collects what it receives. */
  connect<T>(
    path: string,
    schema: z.ZodType<T>,
    headers: IncomingHttpHeaders = {},
  ): { socket: WebSocket; messages: T[] } {
    const socket = new WebSocket(this.url(path).replace('http', 'ws'), { headers: { ...this.cookie, ...headers } });
    this.#sockets.push(socket);
    const messages: T[] = [];
    socket.on('message', (data) => messages.push(schema.parse(JSON.parse(String(data)))));
    socket.on('error', () => undefined);
    return { socket, messages };
  }
}

import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Log } from '../../sync/ports/log.ts';
import { HttpError } from '../errors.ts';
import { livePingIntervalMs, liveStreamsMax } from '../limits.ts';

/** The readers of all live streams: bounds their number, and drops those that are gone. */
export interface LiveReaders {
  /** Throws `too-many` if the limit is reached; `instead` is the route that answers in pages. */
  refuseIfFull(instead: string): void;
  /** Adds a reader. */
  follow(socket: WebSocket): void;
}

/** Tracks the WebSockets of `app` until it closes. */
export function createLiveReaders(app: FastifyInstance, log: Log): LiveReaders {
  const streams = app.websocketServer.clients;
  const answered = new WeakSet<object>();
  // Without pings, a connection whose other end vanished would stay open.
  const pings = setInterval(() => {
    for (const socket of streams) {
      if (!answered.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }, livePingIntervalMs);
  pings.unref();
  app.addHook('onClose', async () => clearInterval(pings));
  return {
    refuseIfFull: (instead) => {
      if (streams.size < liveStreamsMax) return;
      const message = `${liveStreamsMax} live streams are already open. Close one, or use ${instead}.`;
      throw new HttpError(503, { code: 'too-many', message });
    },
    follow: (socket) => {
      answered.add(socket);
      socket.on('pong', () => answered.add(socket));
      socket.on('error', (error) => log.debug({ error }, 'a live stream broke'));
    },
  };
}

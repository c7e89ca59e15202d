import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Log } from '../../sync/ports/log.ts';
import { HttpError } from '../errors.ts';
import { livePingIntervalMs, liveStreamsMax } from '../limits.ts';

/** The readers of all live streams: bounds how many there are, and lets go of those that are gone. */
export interface LiveReaders {
  /** Refuses one reader too many; `instead` says which route answers in pages. */
  refuseIfFull(instead: string): void;
  /** A reader was let in. */
  follow(socket: WebSocket): void;
}

/** Follows the WebSockets of `app` until it closes. */
export function createLiveReaders(app: FastifyInstance, log: Log): LiveReaders {
  const streams = app.websocketServer.clients;
  const answered = new WeakSet<object>();
  // A connection whose other end vanished without a word would be kept for ever.
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
      const message = `${liveStreamsMax} live streams are open already. Close one, or ask ${instead}.`;
      throw new HttpError(503, 'too-many', message);
    },
    follow: (socket) => {
      answered.add(socket);
      socket.on('pong', () => answered.add(socket));
      socket.on('error', (error) => log.debug({ error }, 'a live stream broke'));
    },
  };
}

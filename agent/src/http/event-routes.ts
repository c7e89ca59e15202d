import { eventsPageSchema, eventsQuerySchema, liveMessageSchema, liveQuerySchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Log } from '../sync/ports/log.ts';
import { answers } from './answers.ts';
import { HttpError } from './errors.ts';
import type { AgentFacade } from './facade.ts';
import { livePingIntervalMs, liveStreamsMax } from './limits.ts';
import { streamEvents } from './live-stream.ts';

/** What happens: in pages, and live. */
export const eventRoutes: FastifyPluginAsyncZod<{ facade: AgentFacade; log: Log }> = async (app, { facade, log }) => {
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

  app.get(
    '/events',
    {
      schema: {
        tags: ['events'],
        summary: 'Events, oldest first, a page at a time',
        querystring: eventsQuerySchema,
        response: answers(eventsPageSchema),
      },
    },
    (request) => facade.events(request.query),
  );

  app.route({
    method: 'GET',
    url: '/events/live',
    schema: {
      tags: ['events'],
      summary: 'Events as they happen: a WebSocket',
      description:
        'Sends a LiveMessage in each text message: first the events after the given number, then `live`, then each event as it happens.',
      querystring: liveQuerySchema,
      response: { ...answers(liveMessageSchema), 426: answers(liveMessageSchema)['4xx'] },
    },
    preHandler: async () => {
      if (streams.size < liveStreamsMax) return;
      throw new HttpError(
        503,
        'too-many',
        `${liveStreamsMax} live streams are open already. Close one, or ask /events.`,
      );
    },
    handler: () => {
      throw new HttpError(426, 'request-invalid', 'This is a WebSocket. Connect to it with one, or ask /events.');
    },
    wsHandler: (socket, request) => {
      answered.add(socket);
      socket.on('pong', () => answered.add(socket));
      socket.on('error', (error) => log.debug({ error }, 'a live stream broke'));
      streamEvents(socket, facade, request.query.after, log);
    },
  });
};

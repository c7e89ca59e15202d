import { eventsPageSchema, eventsQuerySchema, liveMessageSchema, liveQuerySchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Log } from '../../sync/ports/log.ts';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import type { LiveReaders } from '../live/live-readers.ts';
import { streamEvents } from '../live/live-stream.ts';
import { readEvents } from '../queries/events.ts';
import type { ServedMember } from '../served-member.ts';

interface Options {
  readonly member: ServedMember;
  readonly readers: LiveReaders;
  readonly log: Log;
}

/** The events: in pages, and live. */
export const eventRoutes: FastifyPluginAsyncZod<Options> = async (app, { member: { engine }, readers, log }) => {
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
    (request) => readEvents(engine, request.query),
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
    preHandler: async () => readers.refuseIfFull('/events'),
    handler: () => {
      throw new HttpError(426, {
        code: 'request-invalid',
        message: 'This route is a WebSocket. Connect with a WebSocket client, or use /events.',
      });
    },
    wsHandler: (socket, request) => {
      readers.follow(socket);
      streamEvents(socket, engine, request.query.after, log);
    },
  });
};

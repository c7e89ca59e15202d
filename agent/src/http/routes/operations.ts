import type { OriginId } from '@lockstep/shared';
import {
  journeyParamsSchema,
  journeySchema,
  liveOperationsMessageSchema,
  liveOperationsQuerySchema,
  operationsPageSchema,
  operationsQuerySchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Log } from '../../sync/ports/log.ts';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import type { LiveReaders } from '../live/live-readers.ts';
import { streamOperations } from '../live/operation-stream.ts';
import { readJourney } from '../queries/journey.ts';
import { readOperations } from '../queries/operations.ts';
import type { ServedMember } from '../served-member.ts';

interface Options {
  readonly member: ServedMember;
  readonly readers: LiveReaders;
  readonly log: Log;
}

/** The operation log: in pages, live, and the journey of one operation. */
export const operationRoutes: FastifyPluginAsyncZod<Options> = async (app, { member: { engine }, readers, log }) => {
  app.get(
    '/ops',
    {
      schema: {
        tags: ['state'],
        summary: 'The operation log, a page at a time',
        querystring: operationsQuerySchema,
        response: answers(operationsPageSchema),
      },
    },
    (request) => readOperations(engine, request.query),
  );

  app.get(
    '/ops/:origin/:seq',
    {
      schema: {
        tags: ['state'],
        summary: 'One operation, and its journey to each member',
        params: journeyParamsSchema,
        response: answers(journeySchema),
      },
    },
    (request) => {
      const { origin, seq } = request.params;
      const journey = readJourney(engine, { origin: origin as OriginId, seq });
      if (journey !== undefined) return journey;
      throw new HttpError(404, {
        code: 'not-found',
        message: `The log of this member has no operation ${seq} of ${origin}.`,
      });
    },
  );

  app.route({
    method: 'GET',
    url: '/ops/live',
    schema: {
      tags: ['events'],
      summary: 'Operations as they are journaled: a WebSocket',
      description:
        'Sends a LiveOperationsMessage in each text message: first the operations after the given row, then `live`, then each batch as it is journaled. A row above the last one, from a journal that was lost since, is answered by `live` with the last row.',
      querystring: liveOperationsQuerySchema,
      response: { ...answers(liveOperationsMessageSchema), 426: answers(liveOperationsMessageSchema)['4xx'] },
    },
    preHandler: async () => readers.refuseIfFull('/ops'),
    handler: () => {
      throw new HttpError(426, {
        code: 'request-invalid',
        message: 'This route is a WebSocket. Connect with a WebSocket client, or use /ops.',
      });
    },
    wsHandler: (socket, request) => {
      readers.follow(socket);
      streamOperations(socket, engine, request.query.after, log);
    },
  });
};

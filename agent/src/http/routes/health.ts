import {
  beatsQuerySchema,
  beatsSchema,
  healthEventsQuerySchema,
  healthEventsSchema,
  latencySpanQuerySchema,
  latencySpanSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { knownMember } from '../queries/latencies.ts';
import type { ServedMember } from '../served-member.ts';

/** The history of health, of the last 30 days at most. */
export const healthRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (
  app,
  { member: { engine, health } },
) => {
  app.get(
    '/health/beats',
    {
      schema: {
        tags: ['health'],
        summary: 'The conditions of all members over time, as this one saw them',
        querystring: beatsQuerySchema,
        response: answers(beatsSchema),
      },
    },
    (request) => health.beats(request.query),
  );

  app.get(
    '/health/latency',
    {
      schema: {
        tags: ['health'],
        summary: 'Round trips from one member to another over an hour, a day or a week',
        description: 'Of a cluster of more than 16 members only those that the asked member measures itself are kept.',
        querystring: latencySpanQuerySchema,
        response: answers(latencySpanSchema),
      },
    },
    ({ query }) => {
      for (const id of [query.from, query.to]) knownMember(engine, id);
      return health.latency(query);
    },
  );

  app.get(
    '/health/events',
    {
      schema: {
        tags: ['health'],
        summary: 'What happened to the members, newest first, a page at a time',
        querystring: healthEventsQuerySchema,
        response: answers(healthEventsSchema),
      },
    },
    (request) => health.events(request.query),
  );
};

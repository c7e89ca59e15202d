import {
  latenciesSchema,
  latencyHistoryQuerySchema,
  latencyHistorySchema,
  recentLatenciesSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { readLatencies, readLatencyHistory, readRecentLatencies } from '../queries/latencies.ts';
import type { ServedMember } from '../served-member.ts';

/** Round trips between all members, now and over the last hour. */
export const latencyRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/latencies',
    {
      schema: {
        tags: ['state'],
        summary: 'Round trips between all members, as this one knows them',
        response: answers(latenciesSchema),
      },
    },
    () => readLatencies(engine),
  );

  app.get(
    '/latencies/history',
    {
      schema: {
        tags: ['state'],
        summary: 'Round trips from one member to another over the last hour',
        querystring: latencyHistoryQuerySchema,
        response: answers(latencyHistorySchema),
      },
    },
    (request) => readLatencyHistory(engine, request.query),
  );

  app.get(
    '/latencies/recent',
    {
      schema: {
        tags: ['state'],
        summary: 'Round trips from this member to each other over the last hour, thinned for small charts',
        response: answers(recentLatenciesSchema),
      },
    },
    () => readRecentLatencies(engine),
  );
};

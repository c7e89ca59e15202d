import { throughputSchema, transfersSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { readThroughput, readTransfers } from '../queries/transfers.ts';
import type { ServedMember } from '../served-member.ts';

/** The transfers, with their source and speed, and the paths that wait. */
export const transferRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/transfers',
    {
      schema: {
        tags: ['state'],
        summary: 'The transfers, their speed, and why the other pending paths wait',
        response: answers(transfersSchema),
      },
    },
    () => readTransfers(engine),
  );

  app.get(
    '/throughput',
    {
      schema: {
        tags: ['state'],
        summary: 'What this member journaled, received and sent in the last ten minutes',
        response: answers(throughputSchema),
      },
    },
    () => readThroughput(engine),
  );
};

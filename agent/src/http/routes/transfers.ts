import { transfersSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { readTransfers } from '../queries/transfers.ts';
import type { ServedMember } from '../served-member.ts';

/** What moves, from whom to whom, and what does not and why. */
export const transferRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/transfers',
    {
      schema: {
        tags: ['state'],
        summary: 'What is on its way, how fast, and what waits for what',
        response: answers(transfersSchema),
      },
    },
    () => readTransfers(engine),
  );
};

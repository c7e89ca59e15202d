import { type Transfers, transfersSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';

/** What is on its way. */
export interface TransfersFacade {
  transfers(): Transfers;
}

/** What moves, from whom to whom, and what does not and why. */
export const transferRoutes: FastifyPluginAsyncZod<{ facade: TransfersFacade }> = async (app, { facade }) => {
  app.get(
    '/transfers',
    {
      schema: {
        tags: ['state'],
        summary: 'What is on its way, how fast, and what waits for what',
        response: answers(transfersSchema),
      },
    },
    () => facade.transfers(),
  );
};

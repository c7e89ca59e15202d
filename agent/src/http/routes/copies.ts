import { copiesReportSchema, copiesRequestSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { readCopies } from '../queries/copies.ts';
import type { ServedMember } from '../served-member.ts';

/** On at least how many members the contents of files are kept. */
export const copiesRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/copies',
    {
      schema: {
        tags: ['state'],
        summary: 'The rules for copies, and the members that lack some',
        response: answers(copiesReportSchema),
      },
    },
    () => readCopies(engine),
  );

  app.post(
    '/copies',
    {
      schema: {
        tags: ['commands'],
        summary: 'Set on at least how many members the contents of files are kept',
        description: 'The rule holds on all members. A number that is larger than the cluster is refused.',
        body: copiesRequestSchema,
        response: answers(copiesReportSchema),
      },
    },
    ({ body: { pattern, copies } }) => {
      engine.copies.set(pattern, copies);
      return readCopies(engine);
    },
  );
};

import { noticesSchema, noticeTestSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import type { ServedMember } from '../served-member.ts';

/** Notices to people: where they go, and a test. */
export const noticeRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { health } }) => {
  app.get(
    '/notices',
    {
      schema: {
        tags: ['health'],
        summary: 'Where this member tells people, and of what',
        response: answers(noticesSchema),
      },
    },
    () => health.notices(),
  );

  app.post(
    '/notices/test',
    {
      schema: {
        tags: ['health'],
        summary: 'Send a test notice to each target, and say what happened',
        response: answers(noticeTestSchema),
      },
    },
    async () => ({ attempts: await health.testNotices() }),
  );
};

import { copiesReportSchema, copiesRequestSchema, pinRequestSchema, pinResultSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { pin, unpin } from '../../sync/copies/pins.ts';
import { answers } from '../answers.ts';
import { readCopies } from '../queries/copies.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The rules for copies of contents on several members, and the files that stay on the disk of this one. */
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

  app.post(
    '/pin',
    {
      schema: {
        tags: ['commands'],
        summary: 'Keep a file, or all files below a directory, on the disk of this member',
        description:
          'For a member that fetches contents on demand. What is not here is fetched, now and when it is made.',
        body: pinRequestSchema,
        response: answers(pinResultSchema),
      },
    },
    ({ body }) => pin(engine.context, body.path && checkedPath(body.path), engine.cache.room.bytesMax),
  );

  app.post(
    '/unpin',
    {
      schema: {
        tags: ['commands'],
        summary: 'End a pin',
        description: 'The files stay until there is no room for them.',
        body: pinRequestSchema,
        response: answers(pinResultSchema),
      },
    },
    ({ body }) => {
      const path = body.path && checkedPath(body.path);
      unpin(engine.context, path);
      return { path, files: 0, bytes: 0 };
    },
  );
};

import {
  acceptMountRequestSchema,
  acceptMountResultSchema,
  pauseResultSchema,
  retryResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { acceptMount, pauseMember, resumeMember, retryAll } from '../queries/control/own-member.ts';
import type { ServedMember } from '../served-member.ts';

/** The commands for a member that is in the way, or that waits. */
export const controlRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.post(
    '/pause',
    {
      schema: {
        tags: ['commands'],
        summary: 'Pause this member: end its sessions, and change nothing in its folder',
        description: 'It still journals the changes in its folder. A pause outlives a restart of the agent.',
        response: answers(pauseResultSchema),
      },
    },
    () => pauseMember(engine),
  );

  app.post(
    '/resume',
    {
      schema: {
        tags: ['commands'],
        summary: 'Let a paused member take part again',
        response: answers(pauseResultSchema),
      },
    },
    () => resumeMember(engine),
  );

  app.post(
    '/retry',
    {
      schema: {
        tags: ['commands'],
        summary: 'Retry everything at once that was put off',
        description: 'Paths that could not be brought to their heads, and members that did not answer.',
        response: answers(retryResultSchema),
      },
    },
    () => retryAll(engine),
  );

  app.post(
    '/mounts/accept',
    {
      schema: {
        tags: ['commands'],
        summary: 'Accept what is at a mount point inside the folder now',
        description:
          'Ends the problem mount-changed of this path. Entries that were there before and are not there now count as deleted, on all members.',
        body: acceptMountRequestSchema,
        response: answers(acceptMountResultSchema),
      },
    },
    (request) => acceptMount(engine, request.body),
  );
};

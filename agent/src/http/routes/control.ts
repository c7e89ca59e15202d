import {
  type AcceptMountRequest,
  type AcceptMountResult,
  acceptMountRequestSchema,
  acceptMountResultSchema,
  type PauseResult,
  pauseResultSchema,
  type RetryResult,
  retryResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';

/** Whether the member takes part, and how soon it tries again. */
export interface ControlFacade {
  /** Throws while the member is still catching up. */
  pause(): PauseResult;
  resume(): PauseResult;
  retry(): RetryResult;
  /** Throws for a path that has no such problem. */
  acceptMount(request: AcceptMountRequest): Promise<AcceptMountResult>;
}

/** What a person can ask of a member that is in the way, or that waits. */
export const controlRoutes: FastifyPluginAsyncZod<{ facade: ControlFacade }> = async (app, { facade }) => {
  app.post(
    '/pause',
    {
      schema: {
        tags: ['commands'],
        summary: 'Pause this member: end its sessions, and change nothing in its folder',
        description: 'It goes on journaling what is changed in its folder. A pause outlives a restart of the agent.',
        response: answers(pauseResultSchema),
      },
    },
    () => facade.pause(),
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
    () => facade.resume(),
  );

  app.post(
    '/retry',
    {
      schema: {
        tags: ['commands'],
        summary: 'Try everything again at once that was put off',
        description: 'Paths that could not be brought to their heads, and members that did not answer.',
        response: answers(retryResultSchema),
      },
    },
    () => facade.retry(),
  );

  app.post(
    '/mounts/accept',
    {
      schema: {
        tags: ['commands'],
        summary: 'Accept what is at a mount point inside the folder now',
        description:
          'Ends the problem mount-changed of this path. What was seen there before and is not there now counts as deleted, on all members.',
        body: acceptMountRequestSchema,
        response: answers(acceptMountResultSchema),
      },
    },
    (request) => facade.acceptMount(request.body),
  );
};

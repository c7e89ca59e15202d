import { LockstepError, pathFault } from '@lockstep/shared';
import { membersSchema, pathReportSchema, statusSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import type { AgentFacade } from '../facade.ts';

/** What is: the member, the cluster, one path. */
export const stateRoutes: FastifyPluginAsyncZod<{ facade: AgentFacade }> = async (app, { facade }) => {
  app.get(
    '/status',
    {
      schema: {
        tags: ['state'],
        summary: 'This member, and the cluster as it sees it',
        response: answers(statusSchema),
      },
    },
    () => facade.status(),
  );

  app.get(
    '/members',
    { schema: { tags: ['state'], summary: 'All members as this one knows them', response: answers(membersSchema) } },
    () => ({ members: facade.members() }),
  );

  app.get(
    '/paths/*',
    {
      schema: {
        tags: ['state'],
        summary: 'What this member knows of one path',
        description: 'The path is relative to the folder, each of its names percent-encoded.',
        params: z.object({ '*': z.string() }),
        response: answers(pathReportSchema),
      },
    },
    async (request) => {
      const path = request.params['*'];
      return facade.path(checkedPath(path));
    },
  );
};

/** `path`, unless no replicated entry can have it. */
export function checkedPath(path: string): string {
  const fault = pathFault(path);
  if (fault === undefined) return path;
  throw new LockstepError(
    'request-invalid',
    `The path ${JSON.stringify(path)} ${fault}. Name it relative to the folder, without a slash at either end.`,
  );
}

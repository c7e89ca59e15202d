import { isStatePath, LockstepError, pathFault } from '@lockstep/shared';
import { joinRecipeSchema, membersSchema, pathReportSchema, statusSchema, summarySchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import { askForPath } from '../queries/folder/path.ts';
import { readMembers } from '../queries/members.ts';
import { readStatus } from '../queries/status.ts';
import type { ServedMember } from '../served-member.ts';

/** The state of the member, the cluster and one path. */
export const stateRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (
  app,
  { member: { engine, place, joinRecipe } },
) => {
  app.get(
    '/status',
    {
      schema: {
        tags: ['state'],
        summary: 'This member, and the cluster as it sees it',
        response: answers(statusSchema),
      },
    },
    () => readStatus(engine, place),
  );

  app.get(
    '/summary',
    {
      config: { access: 'open' },
      schema: {
        tags: ['state'],
        summary: 'The part of the status that needs no login: no path, no address',
        response: answers(summarySchema),
      },
    },
    // The schema leaves out all other fields.
    () => readStatus(engine, place),
  );

  app.get(
    '/join-recipe',
    {
      schema: {
        tags: ['state'],
        summary: 'How another machine joins the cluster',
        response: answers(joinRecipeSchema),
      },
    },
    () => joinRecipe,
  );

  app.get(
    '/members',
    { schema: { tags: ['state'], summary: 'All members as this one knows them', response: answers(membersSchema) } },
    () => ({ members: readMembers(engine) }),
  );

  app.get(
    '/paths/*',
    {
      schema: {
        tags: ['state'],
        summary: 'The knowledge of this member about one path',
        description: 'The path is relative to the folder, each of its names percent-encoded.',
        params: z.object({ '*': z.string() }),
        response: answers(pathReportSchema),
      },
    },
    async (request) => {
      const path = request.params['*'];
      return askForPath(engine, checkedPath(path));
    },
  );
};

/** Returns `path`, or throws `request-invalid` if no replicated entry can have it. */
export function checkedPath(path: string): string {
  const fault = pathFault(path);
  if (fault === undefined) return path;
  const quoted = JSON.stringify(path);
  throw new LockstepError(
    'request-invalid',
    isStatePath(path)
      ? `The path ${quoted} lies inside .lockstep, in this or another spelling: members keep their own state there. Choose another name.`
      : `The path ${quoted} ${fault}. Write it from the folder down: without "." and "..", with one slash between two names, and none at an end.`,
  );
}

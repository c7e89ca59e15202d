import {
  restoreRequestSchema,
  restoreResultSchema,
  versionsPageSchema,
  versionsQuerySchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import { restorePath } from '../queries/folder/restore.ts';
import { readVersions } from '../queries/folder/versions.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The old versions of a path, and how to get one back. */
export const versionRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/versions/*',
    {
      schema: {
        tags: ['state'],
        summary: 'The versions of a path, and which members have the content of each',
        description:
          'The path is relative to the folder, each of its names percent-encoded. Asks all members that are connected, for two seconds at most.',
        params: z.object({ '*': z.string() }),
        querystring: versionsQuerySchema,
        response: answers(versionsPageSchema),
      },
    },
    (request) => readVersions(engine, checkedPath(request.params['*']), request.query),
  );

  app.post(
    '/restore',
    {
      schema: {
        tags: ['commands'],
        summary: 'Put an old version back in this member’s folder, as a user would',
        description:
          'Without `version` and `at`: the version before the current one, or the last one of a deleted file. Of a directory: what was deleted in it since `at`; of a deleted one, by default, what was deleted with it. The replaced version goes to history.',
        body: restoreRequestSchema,
        response: answers(restoreResultSchema),
      },
    },
    (request) => restorePath(engine, { ...request.body, path: checkedPath(request.body.path) }),
  );
};

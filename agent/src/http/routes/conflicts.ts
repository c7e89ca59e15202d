import {
  conflictsPageSchema,
  conflictsQuerySchema,
  contentQuerySchema,
  resolveRequestSchema,
  resolveResultSchema,
  settledPageSchema,
  undoRequestSchema,
  undoResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import { contentsMax } from '../limits.ts';
import { readConflicts, resolveConflicts } from '../queries/folder/conflicts.ts';
import { findVersion, readContent } from '../queries/folder/content.ts';
import { readSettled, undoConflict } from '../queries/folder/settled-conflicts.ts';
import { sendVersion } from '../send-version.ts';
import type { ServedMember } from '../served-member.ts';
import { inertPolicy, unknownType } from '../shown-type.ts';
import { checkedPath } from './state.ts';

/** The conflicts, and the contents to choose between. */
export const conflictRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.get(
    '/conflicts',
    {
      schema: {
        tags: ['state'],
        summary: 'The conflict copies that are not settled, a page at a time',
        querystring: conflictsQuerySchema,
        response: answers(conflictsPageSchema),
      },
    },
    (request) => readConflicts(engine, request.query),
  );

  app.post(
    '/conflicts/resolve',
    {
      schema: {
        tags: ['commands'],
        summary: 'Settle conflicts in this member’s folder, as a user would',
        description:
          'Answers 200 even if some were refused: each result says so. A version that the person did not see is not touched.',
        body: resolveRequestSchema,
        response: answers(resolveResultSchema),
      },
    },
    (request) => resolveConflicts(engine, request.body),
  );

  app.get(
    '/conflicts/settled',
    {
      schema: {
        tags: ['state'],
        summary: 'The conflicts that were settled, newest first, and whether that can be undone',
        description:
          'At most 50, of those settled by the last 100,000 operations, in whatever way and on whatever member.',
        response: answers(settledPageSchema),
      },
    },
    () => readSettled(engine),
  );

  app.post(
    '/conflicts/undo',
    {
      schema: {
        tags: ['commands'],
        summary: 'Undo the settlement of a conflict in this member’s folder, as a user would',
        description:
          'The conflict copy and the version at the path before are there again. What changed since is not touched. Answers 200 also if it was refused: the result says so.',
        body: undoRequestSchema,
        response: answers(undoResultSchema),
      },
    },
    (request) => undoConflict(engine, request.body),
  );

  app.get(
    '/content/*',
    {
      config: { atOnce: contentsMax },
      schema: {
        tags: ['state'],
        summary: 'The bytes of a file on this member’s disk',
        description:
          'The path is relative to the folder, each of its names percent-encoded. At most 2 MiB, of pictures 20 MiB, unless `download` is true: then Range, If-Range and If-None-Match are heeded.',
        params: z.object({ '*': z.string() }),
        querystring: contentQuerySchema,
        response: answers(z.any().describe('The bytes: a picture, UTF-8 text, or another file to be saved.')),
      },
    },
    async (request, reply) => {
      const path = checkedPath(request.params['*']);
      const { version, download = false } = request.query;
      if (download) return sendVersion(engine, findVersion(engine, path, version), request, reply);
      const { bytes, type } = await readContent(engine, path, version);
      return reply
        .header('content-security-policy', inertPolicy)
        .header('content-disposition', type === unknownType ? 'attachment' : 'inline')
        .type(type)
        .send(bytes);
    },
  );
};

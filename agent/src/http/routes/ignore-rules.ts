import { ignoreFileBytesMax } from '@lockstep/shared';
import { ignorePreviewRequestSchema, ignorePreviewSchema, ignoreRulesSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { searchesMax } from '../limits.ts';
import { previewIgnoreRules, readIgnoreRules } from '../queries/folder/ignore-rules.ts';
import type { ServedMember } from '../served-member.ts';

/** As JSON a character may take six bytes. */
const bodyBytesMax = 6 * ignoreFileBytesMax + 1_024;

/** The rules of `.lockstepignore`, which is written like any file of the folder, and a preview of other rules. */
export const ignoreRuleRoutes: FastifyPluginAsyncZod<{ member: ServedMember; stopping: AbortSignal }> = async (
  app,
  { member: { engine }, stopping },
) => {
  app.get(
    '/ignore-rules',
    {
      schema: {
        tags: ['settings'],
        summary: 'The rules for entries that are not replicated',
        response: answers(ignoreRulesSchema),
      },
    },
    () => readIgnoreRules(engine),
  );

  app.post(
    '/ignore-rules/preview',
    {
      config: { atOnce: searchesMax, changesNothing: true },
      bodyLimit: bodyBytesMax,
      schema: {
        tags: ['settings'],
        summary: 'What other rules would do; nothing is changed',
        body: ignorePreviewRequestSchema,
        response: answers(ignorePreviewSchema),
      },
    },
    (request) => previewIgnoreRules(engine, request.body.text, stopping),
  );
};

import { LockstepError } from '@lockstep/shared';
import { settingChangeSchema, settingsSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { writeCondition } from '../conditions.ts';
import { HttpError } from '../errors.ts';
import { etagOf } from '../etag.ts';
import type { ServedMember } from '../served-member.ts';

/** The settings of this member: reading all of them, and changing those that a browser may change. */
export const settingRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { settings } }) => {
  app.get(
    '/settings',
    {
      schema: {
        tags: ['settings'],
        summary: 'The settings of this member, and how each is changed',
        response: answers(settingsSchema),
      },
    },
    async (_request, reply) => {
      const answer = await settings.read();
      reply.header('etag', etagOf(answer.version));
      return answer;
    },
  );

  app.patch(
    '/settings',
    {
      schema: {
        tags: ['settings'],
        summary: 'Change one setting in config.toml',
        description: 'If-Match must name the version of the file, so that an edit by hand is not overwritten.',
        body: settingChangeSchema,
        response: answers(settingsSchema),
      },
    },
    async (request, reply) => {
      const outcome = await settings.change(request.body, namedVersion(request.headers));
      const answer = await settings.read();
      if (outcome.is === 'outdated') {
        throw new HttpError(
          412,
          'version-mismatch',
          'config.toml was changed since it was shown. Nothing was written: look at what is there now, and change it again.',
          outcome.version,
        );
      }
      reply.header('etag', etagOf(answer.version));
      return answer;
    },
  );
};

/** The version that the request names. Throws `version-required`, or `request-invalid` if it names several. */
function namedVersion(headers: Parameters<typeof writeCondition>[0]): string {
  const condition = writeCondition(headers);
  if (condition.is === 'none') {
    throw new HttpError(428, 'version-required', 'Name the version of config.toml in If-Match, as ETag gives it.');
  }
  const [version, ...others] = condition.is === 'versions' ? condition.versions : [];
  if (version !== undefined && others.length === 0) return version;
  throw new LockstepError('request-invalid', 'If-Match must name one version of config.toml.');
}

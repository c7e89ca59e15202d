import { settingChangeSchema, settingsSchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { namedVersion } from '../conditions.ts';
import { etagOf } from '../etag.ts';
import { changeSetting } from '../queries/control/settings.ts';
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
      const answer = await changeSetting(settings, request.body, namedVersion(request.headers));
      reply.header('etag', etagOf(answer.version));
      return answer;
    },
  );
};

import {
  memberControlAnswerSchema,
  pauseResultSchema,
  retryResultSchema,
  settingChangeSchema,
  settingsSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import { namedVersion } from '../conditions.ts';
import { etagOf } from '../etag.ts';
import { controlMember, lookAtMember } from '../queries/control/control-member.ts';
import type { ServedMember } from '../served-member.ts';

const params = z.object({
  member: z.string().max(255).describe('The name of the other member, or the start of its id.'),
});
const tags = ['commands'];

/** The actions on another member, as far as that member allows them. */
export const memberControlRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member }) => {
  app.get(
    '/members/:member/control',
    {
      schema: {
        tags,
        summary: 'Ask another member what it lets this one do',
        params,
        response: answers(memberControlAnswerSchema),
      },
    },
    ({ params: { member: name } }) => lookAtMember(member, name),
  );

  app.post(
    '/members/:member/control/pause',
    {
      schema: {
        tags,
        summary: 'Pause another member, as its own /pause does',
        params,
        response: answers(pauseResultSchema),
      },
    },
    ({ params: { member: name } }) => controlMember(member, name, { do: 'pause' }, pauseResultSchema),
  );

  app.post(
    '/members/:member/control/resume',
    { schema: { tags, summary: 'Resume another member', params, response: answers(pauseResultSchema) } },
    ({ params: { member: name } }) => controlMember(member, name, { do: 'resume' }, pauseResultSchema),
  );

  app.post(
    '/members/:member/control/retry',
    {
      schema: {
        tags,
        summary: 'Let another member retry what it put off',
        params,
        response: answers(retryResultSchema),
      },
    },
    ({ params: { member: name } }) => controlMember(member, name, { do: 'retry' }, retryResultSchema),
  );

  app.get(
    '/members/:member/control/settings',
    { schema: { tags, summary: 'The settings of another member', params, response: answers(settingsSchema) } },
    async ({ params: { member: name } }, reply) => {
      const answer = await controlMember(member, name, { do: 'settings' }, settingsSchema);
      reply.header('etag', etagOf(answer.version));
      return answer;
    },
  );

  app.patch(
    '/members/:member/control/settings',
    {
      schema: {
        tags,
        summary: 'Change one setting of another member',
        description: 'As for /settings: If-Match must name the version of its config.toml.',
        params,
        body: settingChangeSchema,
        response: answers(settingsSchema),
      },
    },
    async ({ params: { member: name }, body, headers }, reply) => {
      const request = { do: 'change', change: body, version: namedVersion(headers) } as const;
      const answer = await controlMember(member, name, request, settingsSchema);
      reply.header('etag', etagOf(answer.version));
      return answer;
    },
  );
};

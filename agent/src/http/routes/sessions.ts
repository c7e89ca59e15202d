import {
  endSessionsRequestSchema,
  endSessionsResultSchema,
  logoutResultSchema,
  sessionsSchema,
} from '@lockstep/shared/api';
import { browserName } from '@lockstep/shared/present';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Access } from '../access/access.ts';
import type { OpenRequests } from '../access/open-requests.ts';
import { sessionId } from '../access/sessions.ts';
import { answers } from '../answers.ts';

/** The browsers that are logged in, and how they are logged out. */
export const sessionRoutes: FastifyPluginAsyncZod<{ access: Access; open: OpenRequests }> = async (
  app,
  { access: { sessions }, open },
) => {
  app.get(
    '/sessions',
    {
      config: { access: 'person', command: 'lockstep dashboard sessions DIR' },
      schema: { tags: ['state'], summary: 'The browsers that are logged in', response: answers(sessionsSchema) },
    },
    ({ caller }) => ({
      sessions: sessions.list().map((session) => ({
        id: sessionId(session),
        isThis: caller.is === 'browser' && caller.session === session,
        since: session.since,
        lastUsedAt: session.lastUsedAt,
        expiresAt: session.expiresAt,
        address: session.address,
        browser: session.agent === undefined ? undefined : browserName(session.agent),
      })),
    }),
  );

  app.post(
    '/sessions/end',
    {
      config: { access: 'person', command: 'lockstep dashboard end SESSION DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Log browsers out',
        description: 'Their open requests and live streams end at once.',
        body: endSessionsRequestSchema,
        response: answers(endSessionsResultSchema),
      },
    },
    async (request) => {
      const { body } = request;
      const known = new Map(sessions.list().map((session) => [sessionId(session), session]));
      const ids = 'all' in body ? [...known.keys()] : [...new Set(body.ids)];
      const ended = ids.flatMap((id) => known.get(id) ?? []);
      const stored = sessions.end(ended);
      open.endInvalid(request);
      await stored;
      return { ended: ended.length, unknown: ids.filter((id) => !known.has(id)) };
    },
  );

  app.post(
    '/logout',
    {
      config: { access: 'person', command: 'lockstep dashboard end SESSION DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Log this browser out',
        description: 'Through the socket, which needs no login, it changes nothing.',
        response: answers(logoutResultSchema),
      },
    },
    async (request, reply) => {
      const { caller } = request;
      if (caller.is === 'browser') {
        const stored = sessions.end([caller.session]);
        open.endInvalid(request);
        await stored;
      }
      reply.header('set-cookie', sessions.withdrawal);
      return { loggedIn: false } as const;
    },
  );
};

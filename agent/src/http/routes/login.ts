import { loginLinkSchema, loginRequestSchema, loginResultSchema, loginWaysSchema } from '@lockstep/shared/api';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import type { Browser } from '../access/sessions.ts';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import { plainAddress } from '../guard.ts';

/** The address that a link leads to: it logs the browser in and continues to the page, so that no token stays in the address bar. */
export const loginRoute: FastifyPluginAsyncZod<{ access: Access }> = async (app, { access }) => {
  app.get(
    '/login',
    {
      config: { access: 'open' },
      schema: { hide: true, querystring: z.object({ token: z.string().max(100).default('') }) },
    },
    (request, reply) => {
      const cookie = access.logIn(request.query.token, browserOf(request));
      if (cookie !== undefined) return reply.header('set-cookie', cookie).redirect('/', 303);
      // The page explains how to log in, or opens if this browser is logged in already.
      if (request.headers.accept?.includes('text/html') === true) return reply.redirect('/', 303);
      throw new HttpError(401, {
        code: 'login-required',
        message:
          'This link was used or has expired. For another one, run lockstep dashboard DIR, where DIR is the folder of this member.',
      });
    },
  );
};

/** The other ways in: the password, and new links for the dashboard at the address that `dashboard` returns. */
export const loginRoutes: FastifyPluginAsyncZod<{ access: Access; dashboard: () => string }> = async (
  app,
  { access, dashboard },
) => {
  app.get(
    '/login',
    {
      config: { access: 'open' },
      schema: { tags: ['state'], summary: 'How a browser can log in', response: answers(loginWaysSchema) },
    },
    async () => ({ password: await access.hasPassword() }),
  );

  app.post(
    '/login',
    {
      config: { access: 'open' },
      schema: {
        tags: ['commands'],
        summary: 'Log a browser in with the password',
        description: 'After a wrong password the next one must wait, from a second to a minute.',
        body: loginRequestSchema,
        response: answers(loginResultSchema),
      },
    },
    async (request, reply) => {
      const tried = await access.logInByPassword(request.body.password, browserOf(request));
      if ('waitS' in tried) {
        reply.header('retry-after', tried.waitS);
        throw new HttpError(429, {
          code: 'too-many',
          message: `Too many wrong passwords. Try again in ${tried.waitS} s.`,
        });
      }
      if (tried.cookie === undefined)
        throw new HttpError(401, { code: 'login-required', message: 'The password is wrong.' });
      reply.header('set-cookie', tried.cookie);
      return { loggedIn: true } as const;
    },
  );

  app.post(
    '/login-link',
    {
      config: { access: 'own', command: 'lockstep dashboard DIR' },
      schema: {
        tags: ['commands'],
        summary: 'A link that logs one browser in, once',
        response: answers(loginLinkSchema),
      },
    },
    () => access.loginLink(dashboard()),
  );
};

/** The browser that sent a request. */
function browserOf(request: FastifyRequest): Browser {
  return { address: plainAddress(request.socket.remoteAddress), agent: request.headers['user-agent'] };
}

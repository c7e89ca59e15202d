import {
  addTokenRequestSchema,
  addTokenResultSchema,
  removeTokenRequestSchema,
  removeTokenResultSchema,
  tokensSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Access } from '../access/access.ts';
import type { OpenRequests } from '../access/open-requests.ts';
import type { Token } from '../access/tokens.ts';
import { answers } from '../answers.ts';

const dayMs = 86_400_000;

const described = ({ name, id, isReadOnly, since, lastUsedAt, expiresAt }: Token) => ({
  name,
  id,
  readOnly: isReadOnly,
  since,
  lastUsedAt,
  expiresAt,
});

/** The tokens of scripts. A browser or script that could make one would keep the access that these give. */
export const tokenRoutes: FastifyPluginAsyncZod<{ access: Access; open: OpenRequests }> = async (
  app,
  { access: { tokens }, open },
) => {
  app.get(
    '/tokens',
    {
      config: { access: 'own', command: 'lockstep token list DIR' },
      schema: { tags: ['state'], summary: 'The tokens of scripts', response: answers(tokensSchema) },
    },
    () => ({ tokens: tokens.list().map(described) }),
  );

  app.post(
    '/tokens',
    {
      config: { access: 'own', command: 'lockstep token add NAME DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Make a token for a script',
        body: addTokenRequestSchema,
        response: answers(addTokenResultSchema),
      },
    },
    async ({ body: { name, readOnly, days } }) => {
      const { text, token } = await tokens.add(name, readOnly, days === undefined ? undefined : days * dayMs);
      return { ...described(token), token: text };
    },
  );

  app.post(
    '/tokens/remove',
    {
      config: { access: 'own', command: 'lockstep token remove NAME DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Remove a token',
        description: 'Open requests and live streams with it end at once.',
        body: removeTokenRequestSchema,
        response: answers(removeTokenResultSchema),
      },
    },
    async ({ body: { name } }) => {
      const removed = tokens.remove(name);
      open.endInvalid();
      return { removed: await removed };
    },
  );
};

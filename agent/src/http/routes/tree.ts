import { searchQuerySchema, searchResultSchema, treePageSchema, treeQuerySchema } from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import type { TreeFacade } from '../facade.ts';
import { checkedPath } from './state.ts';

/** The replicated tree: one directory, and the search for a name. */
export const treeRoutes: FastifyPluginAsyncZod<{ facade: TreeFacade; stopping: AbortSignal }> = async (
  app,
  { facade, stopping },
) => {
  app.get(
    '/tree',
    {
      schema: {
        tags: ['state'],
        summary: 'What lies directly in a directory, by name, a page at a time',
        querystring: treeQuerySchema,
        response: answers(treePageSchema),
      },
    },
    ({ query }) => facade.tree({ ...query, path: query.path === '' ? '' : checkedPath(query.path) }),
  );

  app.get(
    '/search',
    {
      schema: {
        tags: ['state'],
        summary: 'Entries whose name holds a text, by path',
        querystring: searchQuerySchema,
        response: answers(searchResultSchema),
      },
    },
    ({ query }) => facade.search(query, stopping),
  );
};

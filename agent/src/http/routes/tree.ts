import {
  deletedPageSchema,
  searchQuerySchema,
  searchResultSchema,
  treePageSchema,
  treeQuerySchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { answers } from '../answers.ts';
import { searchesMax } from '../limits.ts';
import { readDeleted } from '../queries/folder/deleted.ts';
import { readTree, searchTree } from '../queries/folder/tree.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The replicated tree: one directory, and the search for a name. */
export const treeRoutes: FastifyPluginAsyncZod<{ member: ServedMember; stopping: AbortSignal }> = async (
  app,
  { member: { engine }, stopping },
) => {
  app.get(
    '/tree',
    {
      schema: {
        tags: ['state'],
        summary: 'The entries directly in a directory, by name, a page at a time',
        querystring: treeQuerySchema,
        response: answers(treePageSchema),
      },
    },
    ({ query }) => readTree(engine, { ...query, path: query.path === '' ? '' : checkedPath(query.path) }),
  );

  app.get(
    '/deleted',
    {
      schema: {
        tags: ['state'],
        summary: 'What was deleted directly in a directory, by name, a page at a time',
        querystring: treeQuerySchema,
        response: answers(deletedPageSchema),
      },
    },
    ({ query }) => readDeleted(engine, { ...query, path: query.path === '' ? '' : checkedPath(query.path) }),
  );

  app.get(
    '/search',
    {
      config: { atOnce: searchesMax },
      schema: {
        tags: ['state'],
        summary: 'Entries whose name contains a text, by path',
        querystring: searchQuerySchema,
        response: answers(searchResultSchema),
      },
    },
    ({ query }) => searchTree(engine, query, stopping),
  );
};

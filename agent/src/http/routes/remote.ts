import {
  holdQuerySchema,
  remotePageSchema,
  remoteQuerySchema,
  settleRequestSchema,
  settleResultSchema,
  usedRequestSchema,
  usedResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import { holdsMax } from '../limits.ts';
import { readRemote, settleNow } from '../queries/folder/remote.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The files of a member that fetches contents on demand: those that it does not have, and those that a program needs on its disk. */
export const remoteRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member }) => {
  const { engine } = member;
  app.get(
    '/remote',
    {
      schema: {
        tags: ['files'],
        summary: 'The files directly in a directory that are not on this disk, and are fetched when they are read',
        querystring: remoteQuerySchema,
        response: answers(remotePageSchema),
      },
    },
    ({ query }) => readRemote(member, { ...query, directory: query.directory && checkedPath(query.directory) }),
  );

  app.post(
    '/remote/used',
    {
      schema: {
        tags: ['files'],
        summary: 'Tell that files on this disk were read: they stay longer than others',
        body: usedRequestSchema,
        response: answers(usedResultSchema),
      },
    },
    ({ body: { paths } }) => {
      for (const path of paths) engine.onDemand.used(checkedPath(path));
      return { used: paths.length };
    },
  );

  app.post(
    '/remote/settle',
    {
      config: { atOnce: holdsMax },
      schema: {
        tags: ['files'],
        summary: 'Journal now what programs did at some paths of the folder',
        description: 'A mount asks so after it renamed a directory: the files that are not on the disk move with it.',
        body: settleRequestSchema,
        response: answers(settleResultSchema),
      },
    },
    async ({ body: { paths } }) => ({
      unsettled: await settleNow(engine, paths.map(checkedPath)),
    }),
  );

  app.post(
    '/remote/hold',
    {
      config: { atOnce: holdsMax, streamsBody: true },
      schema: {
        tags: ['files'],
        summary: 'Bring a file to this disk, and keep it there until the connection ends',
        description: 'The answer begins when the file is there, and has no end: close the connection.',
        querystring: holdQuerySchema,
        response: answers(z.any().describe('Nothing.')),
      },
    },
    async ({ query, raw }, reply) => {
      const path = checkedPath(query.path);
      const held = await engine.onDemand.hold(path);
      if ('reason' in held)
        throw new HttpError(held.code === 'disk-full' ? 507 : 503, {
          code: 'content-unavailable',
          message: held.reason,
        });
      const { socket } = raw;
      socket.once('close', held.release);
      if (socket.destroyed) held.release();
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'application/octet-stream' });
      reply.raw.flushHeaders();
    },
  );
};

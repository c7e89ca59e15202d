import { randomUUID } from 'node:crypto';
import {
  holdQuerySchema,
  pinRequestSchema,
  pinResultSchema,
  publishedRequestSchema,
  remotePageSchema,
  remoteQuerySchema,
  roomHeader,
  roomRequestSchema,
  roomResultSchema,
  settleRequestSchema,
  settleResultSchema,
  usedRequestSchema,
  usedResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { DraftRoom } from '../../core/cache/draft-room.ts';
import { pin, unpin } from '../../sync/copies/pins.ts';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import { holdsMax } from '../limits.ts';
import { publishedNow, readRemote, settleNow } from '../queries/folder/remote.ts';
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
    '/pin',
    {
      schema: {
        tags: ['commands'],
        summary: 'Keep a file, or all files below a directory, on the disk of this member',
        description:
          'For a member that fetches contents on demand. What is not here is fetched, now and when it is made.',
        body: pinRequestSchema,
        response: answers(pinResultSchema),
      },
    },
    ({ body }) => pin(engine.context, body.path && checkedPath(body.path), engine.cache.bytesMax),
  );

  app.post(
    '/unpin',
    {
      schema: {
        tags: ['commands'],
        summary: 'End a pin',
        description: 'The files stay until there is no room for them.',
        body: pinRequestSchema,
        response: answers(pinResultSchema),
      },
    },
    ({ body }) => {
      const path = body.path && checkedPath(body.path);
      unpin(engine.context, path);
      return { path, files: 0, bytes: 0 };
    },
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

  const rooms = new Map<string, DraftRoom>();
  const roomOf = (name: string): DraftRoom => {
    const room = rooms.get(name);
    if (room === undefined)
      throw new HttpError(404, { code: 'no-entry', message: 'This room is not reserved any more.' });
    return room;
  };
  app.post(
    '/remote/room',
    {
      config: { atOnce: holdsMax, streamsBody: true, access: 'own', command: 'lockstep mount' },
      schema: {
        tags: ['files'],
        summary:
          'Reserve room in the cache of this member for what programs write through a mount, until the connection ends',
        description: `None at first: the header ${roomHeader} of the answer names the room. The answer has no end: close the connection.`,
        response: answers(z.any().describe('Nothing.')),
      },
    },
    (request, reply) => {
      const name = randomUUID();
      const room = engine.cache.openDrafts();
      rooms.set(name, room);
      const end = (): void => {
        rooms.delete(name);
        engine.cache.closeDrafts(room);
      };
      const { socket } = request.raw;
      socket.once('close', end);
      if (socket.destroyed) end();
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'application/octet-stream', [roomHeader]: name });
      reply.raw.flushHeaders();
    },
  );

  app.post(
    '/remote/room/:room',
    {
      config: { atOnce: holdsMax, access: 'own', command: 'lockstep mount' },
      schema: {
        tags: ['files'],
        summary: 'Set how much room is reserved for what programs write through a mount',
        params: z.object({ room: z.string() }),
        body: roomRequestSchema,
        response: answers(roomResultSchema),
      },
    },
    async ({ params, body: { path, bytes, wished, journaled } }) => {
      const room = roomOf(params.room);
      room.giveBackJournaled(journaled);
      room.lower(Math.max(bytes, wished));
      if (path !== undefined && room.bytes < bytes) {
        const more = { bytes: bytes - room.bytes, wished: wished - room.bytes };
        const refusal = await engine.cache.growDrafts(room, checkedPath(path), more);
        if (refusal !== undefined) throw new HttpError(507, { code: 'disk-full', message: refusal });
      }
      return { bytes: room.bytes };
    },
  );

  app.post(
    '/remote/room/:room/published',
    {
      config: { atOnce: holdsMax, access: 'own', command: 'lockstep mount' },
      schema: {
        tags: ['files'],
        summary:
          'Have files journaled that programs wrote through a mount: what was reserved for them counts as these files then',
        params: z.object({ room: z.string() }),
        body: publishedRequestSchema,
        response: answers(settleResultSchema),
      },
    },
    async ({ params, body: { files } }) => {
      const room = roomOf(params.room);
      for (const { path } of files) checkedPath(path);
      const ends = files.map((file) => room.published(file));
      try {
        return { unsettled: await publishedNow(engine, files) };
      } finally {
        for (const end of ends) end();
      }
    },
  );
};

import { randomUUID } from 'node:crypto';
import {
  publishedRequestSchema,
  roomHeader,
  roomRequestSchema,
  roomResultSchema,
  settleResultSchema,
} from '@lockstep/shared/api';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { DraftRoom } from '../../core/cache/draft-room.ts';
import { answers } from '../answers.ts';
import { HttpError } from '../errors.ts';
import { holdsMax } from '../limits.ts';
import { publishedNow } from '../queries/folder/remote.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The room in the cache of a member on demand for what programs write through mounts. */
export const draftRoomRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
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
      const room = engine.cache.room.openDrafts();
      rooms.set(name, room);
      const end = (): void => {
        rooms.delete(name);
        engine.cache.room.closeDrafts(room);
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

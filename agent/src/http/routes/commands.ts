import { isAbsolute } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import {
  replayRequestSchema,
  replayResultSchema,
  rescanResultSchema,
  verifyRequestSchema,
  verifyResultSchema,
  waitRequestSchema,
  waitResultSchema,
} from '@lockstep/shared/api';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { verifyMember } from '../../sync/durability/verify.ts';
import { answers } from '../answers.ts';
import { verifiesMax, waitsMax } from '../limits.ts';
import { rescanFolder, waitFor } from '../queries/commands.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

/** The commands that examine or await what is on this disk. `stopping` aborts when the agent stops. */
export const commandRoutes: FastifyPluginAsyncZod<{ member: ServedMember; stopping: AbortSignal }> = async (
  app,
  { member, stopping },
) => {
  const { engine } = member;

  /** Aborts when the client disconnects or the agent stops. */
  const signalOf = (reply: FastifyReply): AbortSignal => {
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    return AbortSignal.any([gone.signal, stopping]);
  };

  app.post(
    '/wait',
    {
      config: { atOnce: waitsMax, changesNothing: true },
      schema: {
        tags: ['commands'],
        summary: 'Wait until what is on this disk is durable on other members',
        description:
          'Answers 200 in both cases; `done` says which. Everything that was on the disk before counts, noticed or not.',
        body: waitRequestSchema,
        response: answers(waitResultSchema),
      },
    },
    (request, reply) => {
      if (request.body.path !== undefined) checkedPath(request.body.path);
      return waitFor(engine, request.body, signalOf(reply));
    },
  );

  app.post(
    '/replay',
    {
      config: { access: 'own', command: 'lockstep replay --into NEW_DIR DIR' },
      schema: {
        tags: ['commands'],
        summary: 'Rebuild the folder in an empty directory from the operation log',
        description: 'Only through the socket: it writes outside the folder, as the user of the agent.',
        body: replayRequestSchema,
        response: answers(replayResultSchema),
      },
    },
    (request, reply) => {
      const { into } = request.body;
      if (!isAbsolute(into)) {
        throw new LockstepError(
          'request-invalid',
          `${JSON.stringify(into)} is not an absolute path. Name the directory in full.`,
        );
      }
      return member.replay(into, signalOf(reply));
    },
  );

  app.post(
    '/verify',
    {
      config: { atOnce: verifiesMax },
      schema: {
        tags: ['commands'],
        summary: 'Compare the journal with its heads, and the disk with its content ids',
        description: 'A repair answers when everything agrees, or when the rest cannot be repaired now.',
        body: verifyRequestSchema.nullish(),
        response: answers(verifyResultSchema),
      },
    },
    (request, reply) => {
      const signal = signalOf(reply);
      return verifyMember(engine, { repair: request.body?.repair ?? false, aborted: () => signal.aborted });
    },
  );

  app.post(
    '/rescan',
    {
      schema: {
        tags: ['commands'],
        summary: 'Compare the whole folder with the journal now',
        response: answers(rescanResultSchema),
      },
    },
    () => rescanFolder(engine),
  );
};

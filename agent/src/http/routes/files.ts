import { Readable } from 'node:stream';
import { entryType, LockstepError, fileBytesMax as replicatedBytesMax } from '@lockstep/shared';
import {
  apiPrefix,
  deleteQuerySchema,
  type FilesQuery,
  filesQuerySchema,
  mergedQuerySchema,
  removedEntrySchema,
  type WrittenEntry,
  writtenEntrySchema,
} from '@lockstep/shared/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { makeDirectory } from '../../sync/access/make-directory.ts';
import { moveEntry } from '../../sync/access/move-entry.ts';
import { patchFile } from '../../sync/access/patch-file.ts';
import { putFile } from '../../sync/access/put-file.ts';
import { removeEntry } from '../../sync/access/remove-entry.ts';
import { answers } from '../answers.ts';
import { arriving, exactly, wrongLength } from '../arrival.ts';
import { writeCondition } from '../conditions.ts';
import { checkFileSize, sizeChecked, writtenRange } from '../content-range.ts';
import { etagOf } from '../etag.ts';
import { contentsMax, uploadIdleMs, uploadsMax } from '../limits.ts';
import { mergeConflict } from '../queries/folder/conflicts.ts';
import { accepted, entryAt, readDirectory, written } from '../queries/folder/files.ts';
import { sendVersion } from '../send-version.ts';
import type { ServedMember } from '../served-member.ts';
import { checkedPath } from './state.ts';

const params = z.object({ '*': z.string() });
const place = 'The path is relative to the folder, each of its names percent-encoded.';
const filesPrefix = `${apiPrefix}/files/`;

/** Of a route whose body is a file, or a part of one. */
const takesFile = { config: { atOnce: uploadsMax, streamsBody: true }, bodyLimit: Number.MAX_SAFE_INTEGER };

interface FileRoutesOptions {
  readonly member: ServedMember;
  /** Another limit than that of a replicated file, for a test. */
  readonly fileBytesMax?: number | undefined;
}

/** The folder under URLs: files are read and written as a user of the folder would. */
export const fileRoutes: FastifyPluginAsyncZod<FileRoutesOptions> = async (app, { member, fileBytesMax }) => {
  // The body of a file is taken as it comes, whatever its type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  for (const method of ['MKCOL', 'MOVE']) app.addHttpMethod(method, { hasBody: true });
  await app.register(readingRoutes, { member });
  await app.register(contentRoutes, { member, fileBytesMax });
  await app.register(entryRoutes, { member });
};

/** The routes that read a file or a directory. */
const readingRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  const read = async (path: string, query: FilesQuery, request: FastifyRequest, reply: FastifyReply) => {
    if (path === '') return readDirectory(engine, undefined, query);
    const entry = entryAt(engine, checkedPath(path));
    // Without an entity tag: a directory's version does not say what is in it.
    if (entryType(entry) === 'directory') return readDirectory(engine, entry, query);
    if (entry.content === undefined) {
      throw new LockstepError(
        'content-unavailable',
        `${path} is a symbolic link to ${entry.target}: it is not followed.`,
      );
    }
    return sendVersion(engine, entry, request, reply);
  };
  const reading = {
    config: { atOnce: contentsMax },
    schema: {
      tags: ['files'],
      description: `${place} Range, If-Range, If-Match and If-None-Match are heeded; ETag is the version. A directory is answered as JSON.`,
      querystring: filesQuerySchema,
      response: answers(z.any().describe('The bytes of the file, or the entries of the directory.')),
    },
  };
  for (const method of ['GET', 'HEAD'] as const) {
    // OpenAPI describes GET alone.
    const common = { ...reading, method, exposeHeadRoute: false };
    const schema = { ...reading.schema, hide: method === 'HEAD' };
    app.route({
      ...common,
      url: '/files',
      schema: { ...schema, summary: 'The entries directly in the folder' },
      handler: (request, reply) => read('', request.query, request, reply),
    });
    app.route({
      ...common,
      url: '/files/*',
      schema: { ...schema, summary: 'A file as the cluster has it, or the entries of a directory', params },
      handler: (request, reply) => read(request.params['*'], request.query, request, reply),
    });
  }
};

/** The routes whose body is a content. */
const contentRoutes: FastifyPluginAsyncZod<FileRoutesOptions> = async (
  app,
  { member: { engine }, fileBytesMax = replicatedBytesMax },
) => {
  app.put(
    '/files/*',
    {
      ...takesFile,
      schema: {
        tags: ['files'],
        summary: 'Put a file into this member’s folder, as a user would',
        description: `${place} Missing directories are made. To replace a file, If-Match must name its version. Nothing is visible before all bytes have come.`,
        params,
        response: { ...answers(writtenEntrySchema), 201: writtenEntrySchema },
      },
    },
    async (request, reply) => {
      const path = checkedPath(request.params['*']);
      const { headers } = request.raw;
      if (headers['content-range'] !== undefined) {
        throw new LockstepError('request-invalid', 'A file is put as a whole: Content-Range is for PATCH.');
      }
      const length = headers['content-length'];
      const chunks = sizeChecked(arriving(bodyOf(request), uploadIdleMs), fileBytesMax);
      const size = length === undefined ? undefined : Number(length);
      checkFileSize(size ?? 0, fileBytesMax);
      const result = await putFile(engine, { path, condition: writeCondition(headers), size, chunks });
      return answerWritten(reply, written(path, result));
    },
  );

  app.patch(
    '/files/*',
    {
      ...takesFile,
      schema: {
        tags: ['files'],
        summary: 'Replace bytes of a file in this member’s folder, or add bytes at its end, as a user would',
        description: `${place} Content-Range names the bytes: bytes FIRST-LAST/*. If-Match must name the version. Nothing is visible before all bytes have come.`,
        params,
        response: answers(writtenEntrySchema),
      },
    },
    async (request, reply) => {
      const path = checkedPath(request.params['*']);
      const { headers } = request.raw;
      const range = writtenRange(headers['content-range']);
      const length = range.end - range.start;
      const told = headers['content-length'] ?? String(length);
      if (Number(told) !== length) throw wrongLength(told, length);
      const chunks = exactly(arriving(bodyOf(request), uploadIdleMs), length);
      const result = await patchFile(engine, { path, condition: writeCondition(headers), range, chunks });
      if (!result.done && result.code === 'range-invalid') {
        reply.header('content-range', `bytes */${result.current?.size ?? 0}`);
      }
      return answerWritten(reply, written(path, result));
    },
  );

  app.put(
    '/conflicts/merged',
    {
      ...takesFile,
      schema: {
        tags: ['commands'],
        summary: 'Settle a conflict by a content that a person made of both versions',
        description:
          'The body replaces the original, and the conflict copy is removed, if both still have the versions that the person saw.',
        querystring: mergedQuerySchema,
        response: answers(writtenEntrySchema),
      },
    },
    async (request, reply) => {
      const copy = checkedPath(request.query.copy);
      const chunks = sizeChecked(arriving(bodyOf(request), uploadIdleMs), fileBytesMax);
      return answerWritten(reply, await mergeConflict(engine, { ...request.query, copy }, chunks));
    },
  );
};

/** The routes that delete, make or move an entry. */
const entryRoutes: FastifyPluginAsyncZod<{ member: ServedMember }> = async (app, { member: { engine } }) => {
  app.delete(
    '/files/*',
    {
      schema: {
        tags: ['files'],
        summary: 'Delete an entry of this member’s folder, as a user would',
        description: `${place} If-Match must name the version. The contents go to history.`,
        params,
        querystring: deleteQuerySchema,
        response: answers(removedEntrySchema),
      },
    },
    async (request) => {
      const path = checkedPath(request.params['*']);
      const { entries } = request.query;
      const result = await removeEntry(engine, {
        path,
        condition: writeCondition(request.raw.headers),
        entries,
      });
      const { entries: removed, left } = accepted(result);
      return { path, entries: removed, left };
    },
  );

  // OpenAPI knows neither method: docs/API.md describes them.
  app.route({
    method: 'MKCOL',
    url: '/files/*',
    schema: { hide: true, params, response: { ...answers(writtenEntrySchema), 201: writtenEntrySchema } },
    handler: async (request, reply) => {
      const path = checkedPath(request.params['*']);
      return answerWritten(reply, written(path, await makeDirectory(engine, path)));
    },
  });
  app.route({
    method: 'MOVE',
    url: '/files/*',
    schema: { hide: true, params, response: { ...answers(writtenEntrySchema), 201: writtenEntrySchema } },
    handler: async (request, reply) => {
      const path = checkedPath(request.params['*']);
      const to = checkedPath(destinationOf(request));
      const condition = writeCondition(request.raw.headers);
      return answerWritten(reply, written(to, await moveEntry(engine, { path, to, condition })));
    },
  });
};

function answerWritten(reply: FastifyReply, entry: WrittenEntry): WrittenEntry {
  if (entry.version !== null) reply.header('etag', etagOf(entry.version));
  reply.code(entry.isNew ? 201 : 200);
  return entry;
}

/** The body of a request: without one, an empty stream. */
function bodyOf({ body }: FastifyRequest): Readable {
  return body instanceof Readable ? body : Readable.from([]);
}

/** The path in the header Destination, which is a URL of the same member. Throws `request-invalid`. */
function destinationOf({ raw: { headers } }: FastifyRequest): string {
  const { destination, overwrite, host } = headers;
  const invalid = (message: string) => new LockstepError('request-invalid', message);
  if (overwrite === 'T') throw invalid('A move replaces nothing: Overwrite may only be F.');
  if (typeof destination !== 'string')
    throw invalid(`Name the new path in the header Destination: ${filesPrefix}PATH.`);
  const base = `http://${host}`;
  const url = URL.canParse(destination, base) ? new URL(destination, base) : undefined;
  if (url === undefined || url.host !== new URL(base).host || !url.pathname.startsWith(filesPrefix)) {
    throw invalid(`Destination must be ${filesPrefix}PATH of this member, each name percent-encoded.`);
  }
  try {
    return url.pathname.slice(filesPrefix.length).split('/').map(decodeURIComponent).join('/');
  } catch {
    throw invalid('Destination is not percent-encoded UTF-8.');
  }
}

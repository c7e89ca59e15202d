import { Readable } from 'node:stream';
import { dotKey, type Operation } from '@lockstep/shared';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../sync/engine.ts';
import { isKnown, isNamed, rangeOf } from './conditions.ts';
import { HttpError } from './errors.ts';
import { etagOf } from './etag.ts';
import { openVersion } from './queries/folder/content.ts';
import { inertPolicy, unknownType } from './shown-type.ts';

/**
 * Answers with the bytes of a version of a file, or the part that `Range` asks for, as a download: a browser does not run them. 304 if the
 * client has that version, 412 if `If-Match` names others. Throws 416 for a range that begins after the end, and the errors of `openVersion`.
 */
export async function sendVersion(
  engine: Engine,
  operation: Operation,
  { raw: { headers }, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const version = dotKey(operation);
  reply.header('etag', etagOf(version)).header('cache-control', 'no-cache');
  if (!isNamed(headers, version)) {
    const message = `${operation.path} has changed since it was shown: read it again, or without If-Match.`;
    throw new HttpError(412, { code: 'version-mismatch', message, version });
  }
  if (isKnown(headers, version)) return reply.code(304).send();
  const { path, size = 0 } = operation;
  const range = rangeOf(headers, version, size);
  // A browser takes the name of the file from the address.
  reply
    .header('accept-ranges', 'bytes')
    .header('content-security-policy', inertPolicy)
    .header('content-disposition', 'attachment');
  if (range === 'invalid') {
    reply.header('content-range', `bytes */${size}`);
    throw new HttpError(416, { code: 'range-invalid', message: `${path} has ${size} bytes.` });
  }
  const { start, end } = range ?? { start: 0, end: size };
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
  reply.header('content-length', end - start).type(unknownType);
  if (method === 'HEAD') return reply.send();
  const { chunks } = await openVersion(engine, operation, { start, end });
  return reply.send(Readable.from(chunks, { objectMode: false }));
}

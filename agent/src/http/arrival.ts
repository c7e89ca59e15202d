import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors.ts';
import { requestTimeoutMs, unreadRestMs } from './limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body of the route is a file: it may take any time while its bytes keep coming. */
    readonly streamsBody?: boolean;
  }
}

/** The timeouts of a server. Node's own timeout for requests includes the body, on every route: `limitArrival` replaces it. */
export const arrivalTimeouts = { requestTimeout: 0, headersTimeout: requestTimeoutMs } as const;

/** Closes connections whose request does not arrive in time, or is answered before it is read to its end. */
export function limitArrival(app: FastifyInstance): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    const { headers } = request.raw;
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (!hasBody || request.routeOptions.config.streamsBody === true) return payload;
    const timer = setTimeout(() => request.raw.destroy(), requestTimeoutMs);
    request.raw.once('end', () => clearTimeout(timer));
    request.raw.once('close', () => clearTimeout(timer));
    return payload;
  });
  // A refusal in the middle of a body: no one reads the rest, so its sender and the connection would wait for each other.
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    if (raw.readableDidRead && !raw.complete) reply.header('connection', 'close');
    return payload;
  });
  // A refusal before a body is read: Node takes in the rest and drops it, however much comes.
  app.addHook('onResponse', async ({ raw }) => {
    const { socket } = raw;
    // A request that was injected has no connection.
    if (raw.complete || !(socket instanceof Socket)) return;
    setTimeout(() => {
      if (!raw.complete) socket.destroy();
    }, unreadRestMs).unref();
  });
}

/** The chunks of a body. Ends the connection if none comes for `idleMs`; throws `request-invalid` if the body is cut off. */
export async function* arriving(body: Readable, idleMs: number): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  for (;;) {
    const timer = setTimeout(() => body.destroy(new Error(`no byte came for ${idleMs} ms`)), idleMs);
    let next: IteratorResult<Uint8Array>;
    try {
      next = await chunks.next();
    } catch (error) {
      throw new HttpError(400, {
        code: 'request-invalid',
        message: `The file broke off, and nothing of it was put there: ${String(error)}`,
      });
    } finally {
      clearTimeout(timer);
    }
    if (next.done === true) return;
    yield next.value;
  }
}

/** The chunks of a body that must have exactly this size. Throws `request-invalid` if it has fewer or more bytes. */
export async function* exactly(chunks: AsyncIterable<Uint8Array>, bytes: number): AsyncIterable<Uint8Array> {
  let count = 0;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > bytes) throw wrongLength(`more than ${bytes}`, bytes);
    yield chunk;
  }
  if (count < bytes) throw wrongLength(String(count), bytes);
}

/** The error for a body that does not have the bytes that Content-Range names. */
export function wrongLength(found: string, bytes: number): HttpError {
  const message = `The body has ${found} bytes, and Content-Range names ${bytes}: nothing was changed.`;
  return new HttpError(400, { code: 'request-invalid', message });
}

import { type ErrorCode, LockstepError } from '@lockstep/shared';
import type { ApiError, ApiErrorCode } from '@lockstep/shared/api';
import type { FastifyReply } from 'fastify';
import type { Log } from '../sync/ports/log.ts';
import { etagOf } from './etag.ts';

/** The body of an error. Its version is also the header `ETag`. */
interface HttpProblem {
  readonly code: ApiErrorCode;
  /** A sentence on the problem and the action to take. */
  readonly message: string;
  /** The version of the present entry, if it differs from the requested one. */
  readonly version?: string | undefined;
}

/** An error with an HTTP status: only the API itself throws these. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: ApiErrorCode;
  /** The version of the present entry, if it differs from the requested one. */
  readonly version: string | undefined;
  constructor(status: number, { code, message, version }: HttpProblem) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.version = version;
  }
}

/** Sends `{ error: { code, message } }`. */
export function sendError(reply: FastifyReply, status: number, { code, message, version }: HttpProblem): FastifyReply {
  const body: ApiError = { error: { code, message, version } };
  if (version !== undefined) reply.header('etag', etagOf(version));
  // Serialised here: the route's own schema describes its successful answers.
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body);
}

/** The statuses of errors that are no conflict with the state of the member. A mount answers its programs by them. */
const statuses: Partial<Record<ErrorCode, number>> = { 'request-invalid': 400, 'journal-full': 507 };

/** Answers any error that a route or the framework threw. */
export function answerError(error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  if (error instanceof HttpError) return sendError(reply, error.status, error);
  if (error instanceof LockstepError) return sendError(reply, statuses[error.code] ?? 409, error);
  const status = frameworkStatus(error);
  if (status !== undefined) {
    const code = status === 413 ? 'body-too-large' : status === 404 ? 'not-found' : 'request-invalid';
    const { code: cause, message } = error as Error & { readonly code?: unknown };
    return sendError(reply, status, { code, message: cause === 'FST_ERR_BAD_URL' ? badAddress : message });
  }
  log.error({ error, method: reply.request.method, route: reply.request.routeOptions.url }, 'a request failed');
  const message = 'The agent could not answer because of an internal error: see its log.';
  return sendError(reply, 500, { code: 'internal', message });
}

const badAddress =
  'The address is not percent-encoded UTF-8: write each byte that is not a letter or a digit as % and two hexadecimal digits, and % itself as %25.';

/** The 4xx status that fastify chose for a faulty request; undefined for other errors. */
function frameworkStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode } = error;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}

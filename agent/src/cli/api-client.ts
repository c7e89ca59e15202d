import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { errorCodes, LockstepError } from '@lockstep/shared';
import { apiErrorSchema, apiPrefix } from '@lockstep/shared/api';
import { z } from 'zod';
import { describeRunning, findRunning } from '../member-dir/instance-lock.ts';
import { shellWord } from '../os/shell-word.ts';
import { UsageError } from './exit-code.ts';

/** The longest time to wait for an answer; `wait` and `replay` have their own. */
const answerTimeoutMs = 30_000;

/** The HTTP API of the agent that runs on one folder. */
export interface ApiClient {
  readonly url: string;
  /** Gets `path` below the API's prefix; `timeoutMs`: the longest time for the answer. */
  get<Result>(path: string, schema: z.ZodType<Result>, timeoutMs?: number): Promise<Result>;
  /** Posts a body, otherwise the same. */
  post<Result>(path: string, body: unknown, schema: z.ZodType<Result>, timeoutMs?: number): Promise<Result>;
}

function failed(url: string, status: number, answer: unknown): LockstepError | UsageError {
  const { data } = apiErrorSchema.safeParse(answer);
  if (data === undefined) return new LockstepError('request-invalid', `${url} answered with HTTP status ${status}.`);
  // Only the agent knows the number of members and the paths.
  if (status === 400) return new UsageError(data.error.message);
  const code = errorCodes.find((known) => known === data.error.code) ?? 'request-invalid';
  return new LockstepError(code, data.error.message);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Uses Node's own client: `fetch` gives up after five minutes of silence, and `wait` may take longer. */
function send(address: URL, method: string, body: string | undefined, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(timeoutMs);
    const outgoing = request(address, { method, headers, signal, agent: false }, (incoming) => {
      text(incoming).then((received) => resolve({ status: incoming.statusCode ?? 0, text: received }), reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function parseJson(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return undefined;
  }
}

/** Returns a client of the API at `url` (`http://host:port`). */
export function apiClient(url: string): ApiClient {
  async function ask<Result>(
    path: string,
    schema: z.ZodType<Result>,
    { body, timeoutMs = answerTimeoutMs }: { body?: unknown; timeoutMs?: number } = {},
  ): Promise<Result> {
    const address = new URL(apiPrefix + path, url);
    const [method, payload] = body === undefined ? ['GET'] : ['POST', JSON.stringify(body)];
    const answer = await send(address, method ?? 'GET', payload, timeoutMs).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new LockstepError('not-running', `The agent does not answer at ${url} (${reason}). Is it stopping?`, {
        cause,
      });
    });
    const data = parseJson(answer.text);
    if (answer.status >= 400) throw failed(address.href, answer.status, data);
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    throw new LockstepError(
      'request-invalid',
      `The agent at ${url} gave an unexpected answer (${z.prettifyError(parsed.error)}). Is it of another version?`,
    );
  }
  return {
    url,
    get: (path, schema, timeoutMs = answerTimeoutMs) => ask(path, schema, { timeoutMs }),
    post: (path, body, schema, timeoutMs = answerTimeoutMs) => ask(path, schema, { body, timeoutMs }),
  };
}

/** The API of the agent that runs on `directory`, or undefined if none runs. Rejects with 'not-running' while it is starting. */
export async function findApi(directory: string): Promise<ApiClient | undefined> {
  const running = await findRunning(directory);
  if (running === undefined) return undefined;
  if (running.dashboardUrl === undefined) {
    throw new LockstepError(
      'not-running',
      `The agent of ${directory} (${describeRunning(running).who}) is still starting. Try again in a moment.`,
    );
  }
  return apiClient(running.dashboardUrl);
}

/** As `findApi`, but rejects with 'not-running' and what to do if no agent runs. */
export async function requireApi(directory: string): Promise<ApiClient> {
  const api = await findApi(directory);
  if (api !== undefined) return api;
  // Loaded here only: it opens the journal. A state that cannot be read is the concern of `lockstep up`.
  const { hasLeft } = await import('../offline/membership.ts');
  const start = shellWord(directory);
  const detail = (await hasLeft(directory).catch(() => false))
    ? `This member has left the cluster, and its files stay in ${directory}. To join again: lockstep up --rejoin ${start}`
    : `No agent runs on ${directory}. Start it with: lockstep up ${start}`;
  throw new LockstepError('not-running', detail);
}

import { type ErrorCode, errorCodes, LockstepError } from '@lockstep/shared';
import { z } from 'zod';
import { findRunning } from '../instance-lock.ts';

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** An answer that takes longer is no answer; `wait` and `replay` bring their own patience. */
const answerTimeoutMs = 30_000;

/** The HTTP API of the agent that runs on one folder. */
export interface ApiClient {
  readonly url: string;
  get<Answer>(path: string, schema: z.ZodType<Answer>): Promise<Answer>;
  /** `timeoutMs`: how long the answer may take. */
  post<Answer>(path: string, body: unknown, schema: z.ZodType<Answer>, timeoutMs?: number): Promise<Answer>;
}

function failed(url: string, status: number, answer: unknown): LockstepError {
  const { data } = errorSchema.safeParse(answer);
  if (data === undefined) return new LockstepError('request-invalid', `${url} answered with HTTP status ${status}.`);
  const code = errorCodes.find((known): known is ErrorCode => known === data.error.code) ?? 'request-invalid';
  return new LockstepError(code, data.error.message);
}

/** Speaks to the API at `url` (`http://host:port`). */
export function apiClient(url: string): ApiClient {
  async function request<Answer>(path: string, init: RequestInit, schema: z.ZodType<Answer>): Promise<Answer> {
    const address = new URL(path, url);
    let response: Response;
    let answer: unknown;
    try {
      response = await fetch(address, init);
      answer = await response.json();
    } catch (cause) {
      const reason =
        cause instanceof Error ? (cause.cause instanceof Error ? cause.cause : cause).message : String(cause);
      throw new LockstepError('not-running', `The agent does not answer at ${url} (${reason}). Is it stopping?`, {
        cause,
      });
    }
    if (!response.ok) throw failed(address.href, response.status, answer);
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new LockstepError(
      'request-invalid',
      `The agent at ${url} answered something else than expected (${z.prettifyError(parsed.error)}). Is it of another version?`,
    );
  }
  return {
    url,
    get: (path, schema) => request(path, { signal: AbortSignal.timeout(answerTimeoutMs) }, schema),
    post: (path, body, schema, timeoutMs = answerTimeoutMs) =>
      request(
        path,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(timeoutMs),
        },
        schema,
      ),
  };
}

/** The API of the agent that runs on `directory`, or undefined when none does. */
export async function findApi(directory: string): Promise<ApiClient | undefined> {
  const running = await findRunning(directory);
  if (running === undefined) return undefined;
  if (running.dashboardUrl === undefined) {
    throw new LockstepError(
      'not-running',
      `The agent of ${directory} (process ${running.pid}) is still starting. Try again in a moment.`,
    );
  }
  return apiClient(running.dashboardUrl);
}

/** The same; rejects with 'not-running' and what to do when no agent runs. */
export async function requireApi(directory: string): Promise<ApiClient> {
  const api = await findApi(directory);
  if (api !== undefined) return api;
  throw new LockstepError('not-running', `No agent runs on ${directory}. Start it with: lockstep up ${directory}`);
}

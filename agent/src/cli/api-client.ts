import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { errorCodes, LockstepError } from '@lockstep/shared';
import { apiErrorSchema, apiPrefix } from '@lockstep/shared/api';
import { z } from 'zod';
import {
  describeRunning,
  findRunning,
  isAlive,
  ownSocketPath,
  type RunningAgent,
} from '../member-dir/instance-lock.ts';
import { shellWord } from '../os/shell-word.ts';
import { socketAddress } from '../os/socket-address.ts';
import { UsageError } from './exit-code.ts';

/** The longest time to wait for an answer; `wait` and `replay` have their own. */
const answerTimeoutMs = 30_000;

/** The HTTP API of the agent that runs on one folder, through the socket that only this user can open. */
export interface ApiClient {
  /** Gets `path` below the API's prefix; `timeoutMs`: the longest time for the answer. */
  get<Result>(path: string, schema: z.ZodType<Result>, timeoutMs?: number): Promise<Result>;
  /** Changes a part of what `path` names, which must still have this version. */
  patch<Result>(path: string, body: unknown, version: string, schema: z.ZodType<Result>): Promise<Result>;
  /** Posts a body, otherwise the same. */
  post<Result>(path: string, body: unknown, schema: z.ZodType<Result>, timeoutMs?: number): Promise<Result>;
}

function failed(path: string, status: number, answer: unknown): LockstepError | UsageError {
  const { data } = apiErrorSchema.safeParse(answer);
  if (data === undefined)
    return new LockstepError('request-invalid', `The agent answered ${path} with HTTP status ${status}.`);
  // Only the agent knows the number of members and the paths.
  if (status === 400) return new UsageError(data.error.message);
  const code = errorCodes.find((known) => known === data.error.code) ?? 'request-invalid';
  return new LockstepError(code, data.error.message);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A request to an agent. */
interface Request {
  readonly method: string;
  /** Below the API's prefix. */
  readonly path: string;
  readonly body: string | undefined;
  readonly version: string | undefined;
  readonly timeoutMs: number;
}

/** Uses Node's own client: `fetch` gives up after five minutes of silence, and `wait` may take longer. */
async function send(socket: string, { method, path, body, version, timeoutMs }: Request): Promise<Answer> {
  const address = await socketAddress(socket);
  try {
    return await new Promise((resolve, reject) => {
      const headers = {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(version !== undefined && { 'if-match': `"${version}"` }),
      };
      const signal = AbortSignal.timeout(timeoutMs);
      const options = { socketPath: address.path, path: apiPrefix + path, method, headers, signal, agent: false };
      const outgoing = request(options, (incoming) => {
        text(incoming).then((received) => resolve({ status: incoming.statusCode ?? 0, text: received }), reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  } finally {
    await address.release();
  }
}

/** The agent that answers on a socket, and its folder. */
interface Answering {
  readonly directory: string;
  readonly running: RunningAgent;
}

/** The cause and the remedy if the socket of a process that runs is not there. */
function withoutSocket({ directory, running }: Answering): string {
  const { who, stop } = describeRunning(running);
  return (
    `The agent is ${who} and runs, but this file is not there: it is stopping, or the file was removed. If it still runs after a minute, ` +
    `stop it (${stop}) and start it again: lockstep up ${shellWord(directory)}`
  );
}

/** The error for a socket that cannot be reached. */
function unreachable(socket: string, cause: unknown, answering: Answering | undefined): LockstepError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isRemoved = code === 'ENOENT' && answering !== undefined && isAlive(answering.running);
  const hint = isRemoved
    ? withoutSocket(answering)
    : code === 'EACCES' || code === 'EPERM'
      ? 'Run the command as the user of the agent.'
      : code === 'ENOENT' || code === 'ECONNREFUSED'
        ? 'It is stopping, or runs in a container or on another machine (run the command there), or is of an older version (start it again).'
        : code === 'ABORT_ERR'
          ? 'Its process is suspended (ps shows T; kill -CONT and its number resume it), or may open no more files (its log names EMFILE), or its disk hangs (dmesg), or the machine is overloaded.'
          : 'Is it stopping?';
  return new LockstepError('not-running', `The agent does not answer at ${socket} (${code ?? message}). ${hint}`, {
    cause,
  });
}

function parseJson(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return undefined;
  }
}

/** Returns a client of the agent that answers on the socket at this path. `answering`: that agent, if it is known. */
export function apiClient(socket: string, answering?: Answering): ApiClient {
  async function ask<Result>(
    path: string,
    schema: z.ZodType<Result>,
    asked: { method?: 'PATCH'; body?: unknown; version?: string; timeoutMs?: number } = {},
  ): Promise<Result> {
    const { body, version, timeoutMs = answerTimeoutMs } = asked;
    const { method = body === undefined ? 'GET' : 'POST' } = asked;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const answer = await send(socket, { method, path, body: payload, version, timeoutMs }).catch((cause: unknown) => {
      throw unreachable(socket, cause, answering);
    });
    const data = parseJson(answer.text);
    if (answer.status >= 400) throw failed(path, answer.status, data);
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    throw new LockstepError(
      'request-invalid',
      `The agent gave an unexpected answer (${z.prettifyError(parsed.error)}). Is it of another version?`,
    );
  }
  return {
    get: (path, schema, timeoutMs = answerTimeoutMs) => ask(path, schema, { timeoutMs }),
    patch: (path, body, version, schema) => ask(path, schema, { method: 'PATCH', body, version }),
    post: (path, body, schema, timeoutMs = answerTimeoutMs) => ask(path, schema, { body, timeoutMs }),
  };
}

/** The API of the agent that runs on `directory`, or undefined if none runs. Rejects with 'not-running' while it is starting. */
export async function findApi(directory: string): Promise<ApiClient | undefined> {
  const found = await findAgent(directory);
  return found && apiClient(found.socket, found);
}

/** The path of the socket of the agent that runs on `directory`. Rejects with 'not-running' if none does. */
export async function apiSocket(directory: string): Promise<string> {
  const found = await findAgent(directory);
  if (found === undefined) throw new LockstepError('not-running', `No agent runs on ${directory}.`);
  return found.socket;
}

async function findAgent(directory: string): Promise<(Answering & { readonly socket: string }) | undefined> {
  const running = await findRunning(directory);
  if (running === undefined) return undefined;
  if (running.dashboardUrl === undefined && running.isLost !== true) {
    throw new LockstepError(
      'not-running',
      `The agent of ${directory} (${describeRunning(running).who}) is still starting. Try again in a moment.`,
    );
  }
  return { directory, running, socket: running.socketPath ?? ownSocketPath(directory) };
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

import type { ApiError } from '@lockstep/shared/api';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useRepeat } from './use-repeat.ts';

export const apiPrefix = '/api/v1';
const timeoutMsUsual = 10_000;

export interface Answer<Data> {
  /** The newest answer to this path; an answer to an earlier path is not returned. */
  readonly data: Data | undefined;
  /** A sentence: the reason why there is no newer answer. */
  readonly error: string | undefined;
  /** Asks again now. */
  readonly again: () => void;
}

/** The agent's answer that a request is wrong: the same request gets it again. */
class RefusedError extends Error {}

/**
 * Requests `path` (below `/api/v1`) from the agent, and again whenever `trigger` changes: events and the status are the triggers, so
 * nothing polls. If `trigger` changes during a request, one more request follows it. A request without an answer is repeated when the
 * agent next answers with its status. An undefined path requests nothing.
 */
export function useApi<Data>(path: string | undefined, trigger?: unknown, timeoutMs = timeoutMsUsual): Answer<Data> {
  const [answer, setAnswer] = useState<{ path: string; data?: Data; error?: unknown }>();
  const ask = useRef<() => unknown>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    ask.current = oneAtATime(async () => {
      try {
        const data = await askApi<Data>(path, { signal, timeoutMs });
        if (!signal.aborted) setAnswer({ path, data });
      } catch (error) {
        if (signal.aborted) return;
        setAnswer((before) => ({ ...(before?.path === path && before), path, error }));
      }
    });
    return () => {
      ask.current = undefined;
      controller.abort();
    };
  }, [path, timeoutMs]);
  const again = useCallback(() => void ask.current?.(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path or trigger asks again, though neither is part of `again`
  useEffect(again, [path, trigger]);
  const current = answer?.path === path ? answer : undefined;
  const error = current?.error;
  useRepeat(error !== undefined && isUnanswered(error), again);
  return { data: current?.data, error: error === undefined ? undefined : sentenceOf(error), again };
}

/** A function that runs `task`, one run at a time. However often it is called during a run, one more run follows. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let isWanted = false;
  return async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await task();
    }
    isRunning = false;
  };
}

/** Sends one request and returns the agent's answer. Throws an `Error` whose message is a sentence for users. */
export async function askApi<Data>(
  path: string,
  options: {
    readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'MOVE' | 'MKCOL';
    /** Of a `POST` or a `PATCH`, which are always JSON. */
    readonly body?: unknown;
    /** Of a `PUT`. */
    readonly text?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    /** The time limit, for actions that take longer than a usual answer. */
    readonly timeoutMs?: number;
  } = {},
): Promise<Data> {
  const { method = 'GET', body, text, headers, signal, timeoutMs = timeoutMsUsual } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const isJson = method === 'POST' || method === 'PATCH';
  const response = await fetch(apiPrefix + path, {
    method,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
    ...(text !== undefined && { body: text }),
    ...(isJson && { body: JSON.stringify(body ?? {}) }),
  });
  if (response.ok) return (await response.json()) as Data;
  const answer = (await response.json().catch(() => undefined)) as ApiError | undefined;
  const sentence = answer?.error.message ?? `The agent answered ${response.status}.`;
  throw response.status < 500 ? new RefusedError(sentence) : new Error(sentence);
}

/** True of an error thrown by `askApi` if the agent gave no answer, or could not: the same request may succeed later. */
export function isUnanswered(error: unknown): boolean {
  return !(error instanceof RefusedError);
}

/** A sentence for users about a thrown value. */
export function sentenceOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'The agent did not answer in time.';
  if (error instanceof TypeError) return 'The agent does not answer.';
  return error instanceof Error ? error.message : String(error);
}

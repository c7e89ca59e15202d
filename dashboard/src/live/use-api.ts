import type { ApiError } from '@lockstep/shared/api';
import { useCallback, useEffect, useRef, useState } from 'react';

export const apiPrefix = '/api/v1';
const timeoutMsUsual = 10_000;

export interface Answer<Data> {
  /** The newest answer; that of an earlier address is not shown for a later one. */
  readonly data: Data | undefined;
  /** A sentence: why there is no newer one. */
  readonly error: string | undefined;
  /** Asks again now. */
  readonly again: () => void;
}

/**
 * Asks the agent for `path` (below `/api/v1`), and again whenever `trigger` changes: events and the status say when it is worth it, so
 * nothing polls by itself. An answer may take longer than a trigger lasts: it is awaited, and asked for once more. An undefined path asks
 * for nothing.
 */
export function useApi<Data>(path: string | undefined, trigger?: unknown): Answer<Data> {
  const [answer, setAnswer] = useState<{ path: string; data?: Data; error?: string }>();
  const ask = useRef<() => unknown>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    ask.current = oneAtATime(async () => {
      try {
        const data = await askApi<Data>(path, { signal });
        if (!signal.aborted) setAnswer({ path, data });
      } catch (error) {
        if (signal.aborted) return;
        setAnswer((before) => ({ ...(before?.path === path && before), path, error: sentenceOf(error) }));
      }
    });
    return () => {
      ask.current = undefined;
      controller.abort();
    };
  }, [path]);
  const again = useCallback(() => void ask.current?.(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path or trigger asks again, though neither is part of `again`
  useEffect(again, [path, trigger]);
  const current = answer?.path === path ? answer : undefined;
  return { data: current?.data, error: current?.error, again };
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

/** What the agent answers to one request. Throws an `Error` whose message is a sentence for people. */
export async function askApi<Data>(
  path: string,
  options: {
    readonly method?: 'GET' | 'POST';
    readonly body?: unknown;
    readonly signal?: AbortSignal;
    /** How long the agent may take, where that is more than for a mere answer. */
    readonly timeoutMs?: number;
  } = {},
): Promise<Data> {
  const { method = 'GET', body, signal, timeoutMs = timeoutMsUsual } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(apiPrefix + path, {
    method,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
  });
  if (response.ok) return (await response.json()) as Data;
  const answer = (await response.json().catch(() => undefined)) as ApiError | undefined;
  throw new Error(answer?.error.message ?? `The agent answered ${response.status}.`);
}

/** What to tell a person of something that was thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'The agent did not answer in time.';
  if (error instanceof TypeError) return 'The agent does not answer.';
  return error instanceof Error ? error.message : String(error);
}

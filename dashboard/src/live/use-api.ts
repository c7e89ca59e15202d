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
 * nothing polls by itself. An undefined path asks for nothing.
 */
export function useApi<Data>(path: string | undefined, trigger?: unknown): Answer<Data> {
  const [answer, setAnswer] = useState<{ path: string; data?: Data; error?: string }>();
  const [count, setCount] = useState(0);
  const asking = useRef<AbortController>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new trigger or count asks again, though neither is part of the question
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    asking.current = controller;
    askApi<Data>(path, { signal: controller.signal }).then(
      (data) => setAnswer({ path, data }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setAnswer((before) => ({ ...(before?.path === path && before), path, error: sentenceOf(error) }));
      },
    );
    return () => controller.abort();
  }, [path, trigger, count]);
  const again = useCallback(() => setCount((before) => before + 1), []);
  const current = answer?.path === path ? answer : undefined;
  return { data: current?.data, error: current?.error, again };
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

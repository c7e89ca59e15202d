import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from './terminal.ts';

/** The interval at which the agent is asked how far a work is. */
const askMs = 500;

/** Resolves as `work`. Until then it shows on a terminal what `ask` says: how far the work is, or undefined if that is not known. */
export async function watchWork<Result>(
  terminal: Terminal,
  work: Promise<Result>,
  ask: () => Promise<string | undefined>,
): Promise<Result> {
  if (!terminal.isWatched) return work;
  const ended = new AbortController();
  const shown = (async () => {
    while (!ended.signal.aborted) {
      await sleep(askMs, undefined, { signal: ended.signal }).catch(() => undefined);
      if (ended.signal.aborted) return;
      // The answer to the work itself says what is wrong.
      const text = await ask().catch(() => undefined);
      if (!ended.signal.aborted) terminal.progress(text);
    }
  })();
  try {
    return await work;
  } finally {
    ended.abort();
    terminal.progress(undefined);
    await shown;
  }
}

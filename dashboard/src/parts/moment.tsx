import { formatAgo, formatDuration } from '@lockstep/shared/present';
import { useEffect, useState } from 'react';
import { exactTime } from './time-formats.ts';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Renders the caller again every second. All callers share one timer. */
function useSeconds(): void {
  const [, render] = useState(0);
  useEffect(() => {
    const tick = (): void => render((count) => count + 1);
    listeners.add(tick);
    timer ??= setInterval(() => {
      for (const listener of listeners) listener();
    }, 1_000);
    return () => {
      listeners.delete(tick);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
}

/** `3 min ago`, with the exact time in the reader's time zone on hover. `at`: milliseconds since the epoch. */
export function Moment({ at }: { readonly at: number }) {
  useSeconds();
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime.format(at)} style={{ whiteSpace: 'nowrap' }}>
      {formatAgo(at, Date.now())}
    </time>
  );
}

/** The duration since `at`, updated every second. */
export function Since({ at }: { readonly at: number }) {
  useSeconds();
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`since ${exactTime.format(at)}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      {formatDuration(Math.max(0, Date.now() - at) / 1_000)}
    </time>
  );
}

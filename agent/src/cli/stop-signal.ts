import type { Readable } from 'node:stream';

/**
 * The time within which signals count as one. A terminal and a parent process (npm, the lab) both forward Ctrl-C, so one press may arrive
 * twice; a later signal is a second request.
 */
const samePressMs = 500;

export interface StopSignal {
  /** Resolves with the reason. */
  readonly received: Promise<NodeJS.Signals | 'end of input'>;
  dispose(): void;
}

/**
 * Returns a promise that resolves at the first SIGINT or SIGTERM, or when `input` ends, for a process that must not outlive its parent. A
 * later second signal ends the process at once.
 */
export function stopSignal(input?: Readable): StopSignal {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  let askedAt: number | undefined;
  let resolve: (reason: NodeJS.Signals | 'end of input') => void = () => undefined;
  const received = new Promise<NodeJS.Signals | 'end of input'>((settle) => {
    resolve = settle;
  });
  const listener = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (askedAt !== undefined && now - askedAt > samePressMs) process.exit(1);
    askedAt ??= now;
    resolve(signal);
  };
  for (const signal of signals) process.on(signal, listener);
  input
    ?.once('close', () => resolve('end of input'))
    .once('end', () => resolve('end of input'))
    .resume();
  return {
    received,
    dispose() {
      for (const signal of signals) process.off(signal, listener);
      // An open input would keep the process alive.
      input?.destroy();
    },
  };
}

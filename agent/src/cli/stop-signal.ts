/**
 * A terminal and a parent process (npm, the lab) both pass Ctrl-C on, so one press may arrive twice; only what comes later than
 * this is somebody who asks again.
 */
const samePressMs = 500;

/** Resolves at the first SIGINT or SIGTERM. Asked again later, the process ends at once. */
export function stopSignal(): { readonly received: Promise<NodeJS.Signals>; dispose(): void } {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  let askedAt: number | undefined;
  let resolve: (signal: NodeJS.Signals) => void = () => undefined;
  const received = new Promise<NodeJS.Signals>((settle) => {
    resolve = settle;
  });
  const listener = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (askedAt !== undefined && now - askedAt > samePressMs) process.exit(1);
    askedAt ??= now;
    resolve(signal);
  };
  for (const signal of signals) process.on(signal, listener);
  return {
    received,
    dispose() {
      for (const signal of signals) process.off(signal, listener);
    },
  };
}

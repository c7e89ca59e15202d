import type { Clock } from '../ports/clock.ts';

/** Resolves with true once `isSo()` returns true, called now and after each of the facts; with its last result after `withinMs` milliseconds. */
export function until(
  clock: Clock,
  isSo: () => boolean,
  options: { readonly facts: readonly { on(listener: () => void): () => void }[]; readonly withinMs: number },
): Promise<boolean> {
  if (isSo()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const end = (so: boolean): void => {
      timer.cancel();
      for (const stop of stops) stop();
      resolve(so);
    };
    const timer = clock.after(options.withinMs, () => end(isSo()));
    const stops = options.facts.map((fact) =>
      fact.on(() => {
        if (isSo()) end(true);
      }),
    );
  });
}

/** The time after which a browser without idle callbacks counts as idle. */
const idleAfterMs = 2_000;

/**
 * Runs `loads` one after the other, each when the browser has nothing else to do: the views are then there even if the agent has gone when
 * they are opened. Returns a function that ends the series.
 */
export function loadWhenIdle(loads: readonly (() => Promise<void>)[]): () => void {
  let isEnded = false;
  const whenIdle = (task: () => void): void => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(task);
    else setTimeout(task, idleAfterMs);
  };
  const next = ([load, ...rest]: typeof loads): void => {
    if (load === undefined) return;
    whenIdle(() => {
      if (!isEnded) void load().then(() => next(rest));
    });
  };
  next(loads);
  return () => {
    isEnded = true;
  };
}

import type { Soon } from './ports/access.ts';

/** `next` of a result, at once if that is there: a request that needs no agent waits for nothing. */
export function after<Result, Next>(result: Soon<Result>, next: (result: Result) => Next): Soon<Next> {
  return result instanceof Promise ? result.then(next) : next(result);
}

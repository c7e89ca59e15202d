import type { RescanResult, WaitRequest, WaitResult } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** Waits as the request asks. An aborted signal means that the client disconnected: the result is dropped. */
export async function waitFor(engine: Engine, request: WaitRequest, signal: AbortSignal): Promise<WaitResult> {
  const { isUnjournaled: _, ...outcome } = await engine.wait(request, () => signal.aborted);
  return { ...outcome, blocking: outcome.blocking.map((blocking) => ({ ...blocking })) };
}

/** Compares the whole folder with the journal now, and retries all blocked paths. */
export async function rescanFolder(engine: Engine): Promise<RescanResult> {
  const startMs = performance.now();
  const { localChanges, applyLoop, totals } = engine;
  const before = totals.operationsMade;
  await localChanges.settleAll('', new Promise(() => undefined));
  applyLoop.unblock();
  return { operations: totals.operationsMade - before, elapsedMs: performance.now() - startMs };
}

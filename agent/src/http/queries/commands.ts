import type { LeaveResult, RescanResult, WaitRequest, WaitResult } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';
import type { ServedMember } from '../served-member.ts';

const goodbyeMs = 2_000;

/** Waits as the request asks. An aborted signal means that the client disconnected: the result is dropped. */
export async function waitFor(engine: Engine, request: WaitRequest, signal: AbortSignal): Promise<WaitResult> {
  const outcome = await engine.wait(request, () => signal.aborted);
  return { ...outcome, blocking: outcome.blocking.map((blocking) => ({ ...blocking })) };
}

/** Resolves once the retirement is journaled and was sent to the connected members; the agent then stops. */
export async function leaveCluster({ engine, retired }: ServedMember): Promise<LeaveResult> {
  const told = await engine.retire(goodbyeMs);
  setImmediate(retired);
  return { told: [...told] };
}

/** Compares the whole folder with the journal. */
export async function rescanFolder(engine: Engine): Promise<RescanResult> {
  const startMs = performance.now();
  const { operations } = await engine.rescan();
  return { operations, elapsedMs: performance.now() - startMs };
}

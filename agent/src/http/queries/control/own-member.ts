import { LockstepError } from '@lockstep/shared';
import type { AcceptMountRequest, AcceptMountResult, PauseResult, RetryResult } from '@lockstep/shared/api';
import type { Engine } from '../../../sync/engine.ts';

/** Pauses the member; `by`: the other member that asked for it. Throws `request-invalid` while the member is still catching up. */
export function pauseMember({ pause, lifecycle: { state }, context }: Engine, by?: string): PauseResult {
  // A newcomer that is cut off during its catch-up would take its files for new ones.
  if (state !== 'active') {
    throw new LockstepError(
      'request-invalid',
      `${context.self.name} is still catching up. Pause it once it is active, or stop its agent.`,
    );
  }
  pause.pause(by);
  return { name: context.self.name, paused: pause.isOn };
}

export function resumeMember({ pause, context }: Engine, by?: string): PauseResult {
  pause.resume(by);
  return { name: context.self.name, paused: pause.isOn };
}

/** Retries everything that was put off, and returns the number of pending paths. */
export function retryAll(engine: Engine): RetryResult {
  engine.retry();
  return { paths: engine.context.journal.totals.counts().pending };
}

/** Accepts the mount at `path`. Throws `request-invalid` for a path without such a problem. */
export async function acceptMount({ mounts }: Engine, { path }: AcceptMountRequest): Promise<AcceptMountResult> {
  if (!(await mounts.accept(path))) {
    throw new LockstepError(
      'request-invalid',
      `${path} has no mount-changed problem. lockstep status lists the problems.`,
    );
  }
  return { accepted: path };
}

import { LockstepError } from '@lockstep/shared';
import type { AcceptMountRequest, AcceptMountResult, PauseResult, RetryResult } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** Throws while the member is still catching up. */
export function pauseMember({ pause, lifecycle: { state }, context }: Engine): PauseResult {
  // Cut off in the middle of it, a newcomer would take its files for news.
  if (state !== 'active') {
    throw new LockstepError(
      'request-invalid',
      `${context.self.name} is still catching up. Pause it once it is active, or stop its agent.`,
    );
  }
  pause.pause();
  return { paused: pause.isOn };
}

export function resumeMember({ pause }: Engine): PauseResult {
  pause.resume();
  return { paused: pause.isOn };
}

/** Answers with the number of paths that waited. */
export function retryAll(engine: Engine): RetryResult {
  engine.retry();
  return { paths: engine.context.journal.counts().pending };
}

/** Throws for a path that has no such problem. */
export async function acceptMount({ mounts }: Engine, { path }: AcceptMountRequest): Promise<AcceptMountResult> {
  if (!(await mounts.accept(path))) {
    throw new LockstepError(
      'request-invalid',
      `${path} has no problem mount-changed. lockstep status lists the problems.`,
    );
  }
  return { accepted: path };
}

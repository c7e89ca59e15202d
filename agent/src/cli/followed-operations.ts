import { setTimeout as sleep } from 'node:timers/promises';
import { LockstepError } from '@lockstep/shared';
import { type LoggedOperation, liveOperationsMessageSchema } from '@lockstep/shared/api';
import { readLive } from './live-stream.ts';

/** The delay before an agent that does not answer is tried again. */
const retryMs = 300;

const unexpected = 'The agent sent an unexpected message. Is it of another version?';

interface FollowedOperations {
  /** Returns the path of the socket of the agent that runs now. */
  readonly socketPath: () => Promise<string>;
  /** The row of the last operation that is known. */
  readonly after: number;
  readonly received: (operations: readonly LoggedOperation[]) => void;
  /** Called once for each time that the stream ends although it is wanted. */
  readonly interrupted: () => void;
  readonly signal: AbortSignal;
}

/**
 * Follows the operations that an agent journals, also across its restarts, until `signal` is aborted. Each connection resumes after the last
 * row that came, so no operation is missed or repeated.
 */
export async function followOperations(followed: FollowedOperations): Promise<void> {
  const { socketPath, received, interrupted, signal } = followed;
  let last = followed.after;
  let isNoted = false;

  const take = (data: unknown): void => {
    const { data: message } = liveOperationsMessageSchema.safeParse(data);
    if (message === undefined) throw new LockstepError('request-invalid', unexpected);
    isNoted = false;
    if (message.type === 'operations') {
      last = message.operations.at(-1)?.row ?? last;
      received(message.operations);
    } else {
      // The rows of a journal that was lost since are counted again from the first one.
      last = message.last;
    }
  };

  while (!signal.aborted) {
    try {
      const socket = await socketPath();
      await readLive({ socketPath: socket, path: `/ops/live?after=${last}`, received: take, signal });
    } catch (error) {
      if (error instanceof LockstepError) throw error;
      // The agent does not run (yet), stops, or has no stream left.
    }
    if (signal.aborted) return;
    if (!isNoted) interrupted();
    isNoted = true;
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

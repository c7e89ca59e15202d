import type { Status } from '@lockstep/shared/api';
import type { Config } from '../../config/schema.ts';
import type { Identity } from '../../net/keys/identity.ts';

/** The agent that runs on the folder now. */
export interface RunningMember {
  /** Undefined if a process holds the lock and cannot be identified, or the lock cannot be examined. */
  readonly pid: number | undefined;
  /** Undefined while it does not answer. */
  readonly status: Status | undefined;
}

/**
 * The data for the checks. A part that could not be read is undefined: the check that needs it is skipped, and another one has reported the
 * reason.
 */
export interface Subject {
  readonly directory: string;
  readonly state: string;
  readonly config: Config | undefined;
  readonly identity: Identity | undefined;
  readonly clusterKey: Uint8Array | undefined;
  /** Undefined when no agent runs. */
  readonly running: RunningMember | undefined;
  nowMs(): number;
}

import type { ReplayResult } from '@lockstep/shared/api';
import type { Engine } from '../sync/engine.ts';

/** Where a member is to be found, and since when it runs. */
export interface Place {
  readonly folder: string;
  /** Where it listens for members. */
  readonly address: string;
  readonly dashboard: string;
  readonly startedAt: number;
}

/** A running member as the routes see it: its engine, and what only the program around the engine knows or can do. */
export interface ServedMember {
  readonly engine: Engine;
  readonly place: Place;
  /** Called once the member has been retired: its agent stops then. */
  readonly retired: () => void;
  /** Rebuilds the folder in the empty directory `into` from the operation log alone. */
  readonly replay: (into: string, signal: AbortSignal) => Promise<ReplayResult>;
}

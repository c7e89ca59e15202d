import type { JoinRecipe, ReplayResult } from '@lockstep/shared/api';
import type { Engine } from '../sync/engine.ts';

/** The folder and addresses of a member, and the time of its start. */
export interface Place {
  readonly folder: string;
  /** The address on which it listens for members. */
  readonly address: string;
  readonly dashboard: string;
  readonly startedAt: number;
}

/** A running member as the routes see it: its engine, and the functions of the program around the engine. */
export interface ServedMember {
  readonly engine: Engine;
  readonly place: Place;
  /** How another machine joins its cluster. */
  readonly joinRecipe: JoinRecipe;
  /** Called once the member has retired: its agent then stops. */
  readonly retired: () => void;
  /** Rebuilds the folder in the empty directory `into` from the operation log alone. */
  readonly replay: (into: string, signal: AbortSignal) => Promise<ReplayResult>;
}

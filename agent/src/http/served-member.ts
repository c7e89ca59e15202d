import type { MemberId } from '@lockstep/shared';
import type {
  Beats,
  BeatsQuery,
  ControlAnswer,
  ControlLevel,
  ControlRequest,
  HealthEvents,
  HealthEventsQuery,
  JoinRecipe,
  LatencySpan,
  LatencySpanQuery,
  Notices,
  NoticeTest,
  ReplayResult,
  SettingChange,
  Settings,
} from '@lockstep/shared/api';
import type { CounterFile } from '../os/counter-file.ts';
import type { Engine } from '../sync/engine.ts';

/** The folder and addresses of a member, and the time of its start by the monotonic clock. */
export interface Place {
  readonly folder: string;
  /** The address on which it listens for members. */
  readonly address: string;
  readonly dashboard: string;
  readonly startedMs: number;
}

/** The watch over the health of the cluster. */
export interface ServedHealth {
  /** The targets of notices, and the kinds of notices that they get. */
  notices(): Notices;
  /** Sends a test notice to each target. */
  testNotices(): Promise<NoticeTest['attempts']>;
  /** The conditions of all members over time. */
  beats(query: BeatsQuery): Beats;
  /** The round trips of a pair over a longer time. */
  latency(query: LatencySpanQuery): LatencySpan;
  /** The events of the members, newest first. */
  events(query: HealthEventsQuery): HealthEvents;
}

/** The result of changing a setting; `outdated`: the file has this version now, and not the named one. */
export type SettingOutcome = { readonly is: 'changed' } | { readonly is: 'outdated'; readonly version: string };

/** The settings of a member. */
export interface ServedSettings {
  read(): Promise<Settings>;
  /** Changes one setting in the version of the file that is named. Throws a LockstepError if that is not possible or not allowed. */
  change(change: SettingChange, version: string): Promise<SettingOutcome>;
}

/** How this member and the others control each other. */
export interface ServedControl {
  /** The actions that other members may take here. */
  readonly allows: ControlLevel;
  /**
   * Asks the member with this id, at one of its addresses, to do something. Rejects with a LockstepError if it could not be asked; with
   * `unreachable` also if it did not answer.
   */
  ask(address: string, member: MemberId, request: ControlRequest): Promise<ControlAnswer>;
}

/** A running member as the routes see it: its engine, and the functions of the program around the engine. */
export interface ServedMember {
  readonly engine: Engine;
  /** Tells a mount whether a list of remote files is still valid; undefined on a member with the whole folder. */
  readonly remoteCounters?: Pick<CounterFile, 'of'> | undefined;
  readonly place: Place;
  readonly health: ServedHealth;
  readonly settings: ServedSettings;
  readonly control: ServedControl;
  /** How another machine joins its cluster. */
  readonly joinRecipe: JoinRecipe;
  /** Called once the member has retired: its agent then stops. */
  readonly retired: () => void;
  /** Rebuilds the folder in the empty directory `into` from the operation log alone. */
  readonly replay: (into: string, signal: AbortSignal) => Promise<ReplayResult>;
}

import type { ContentId } from '@lockstep/shared';
import type { PackedFiles } from '../../core/packed-files.ts';
import type {
  ActionRequest,
  ChangedMount,
  ContentSource,
  Observation,
  ObserveRequest,
  PolledFiles,
  SyncResult,
} from '../../sync/ports/folder.ts';
import type { Applied } from '../apply/apply.ts';
import type { ContentDescription } from '../apply/block-store.ts';
import type { KeptVersion } from '../apply/history.ts';
import type { ApplyStep } from '../fault-point.ts';
import type { KnownMounts, MountIdentity } from '../mounts/mounts.ts';
import type { OpenedPlaces } from '../places.ts';
import type { ExpectedBlock } from '../read/content-id.ts';
import type { ListedDirectory } from '../read/list-directory.ts';

/** What workers do: for each job what they are given and what they answer. */
export interface Jobs {
  observe: { input: readonly ObserveRequest[]; output: readonly Observation[] };
  list: { input: readonly string[]; output: readonly ListedDirectory[] };
  poll: { input: PackedFiles; output: PolledFiles };
  mapped: { input: undefined; output: readonly string[] };
  apply: { input: readonly ActionRequest[]; output: Applied };
  /** `left`: those of `paths` that no sync of their whole file system has covered. */
  sync: { input: { readonly paths: readonly string[]; readonly left: readonly string[] }; output: SyncResult };
  stageBlock: {
    input: { readonly block: ExpectedBlock; readonly bytes: Uint8Array; readonly isFirst: boolean };
    output: 'ok' | 'corrupt' | 'disk-full' | 'lost';
  };
  unstage: { input: ContentId; output: undefined };
  readBlock: {
    input: { readonly block: ExpectedBlock; readonly source: ContentSource };
    output: Uint8Array | undefined;
  };
  holdsBlock: { input: { readonly block: ExpectedBlock; readonly source: ContentSource }; output: boolean };
  keep: { input: ContentDescription & { readonly source: ContentSource }; output: KeptVersion | boolean };
  inHistory: { input: readonly ContentId[]; output: readonly ContentId[] };
  listHistory: { input: { readonly from: number; readonly to: number }; output: readonly KeptVersion[] };
  checkMounts: { input: readonly string[]; output: readonly ChangedMount[] };
  identifyMount: { input: string; output: MountIdentity | undefined };
  forgetHistory: { input: readonly ContentId[]; output: undefined };
}

export type JobName = keyof Jobs;

/**
 * Which worker may do a job. The first does whatever the folder lock waits for and never a job that can take seconds; the second does
 * those, and lends a hand when it has none.
 */
export type Lane = 'first' | 'second' | 'either';

/** Has jobs done. */
export interface JobRunner {
  /** What each job is told of mounts when it begins. */
  mounts: KnownMounts;
  /** Does a job. `transfer` lists buffers that the worker gets for good. Rejects when the job throws or the runner has ended. */
  run<Name extends JobName>(
    job: Name,
    input: Jobs[Name]['input'],
    lane?: Lane,
    transfer?: readonly ArrayBuffer[],
  ): Promise<Jobs[Name]['output']>;
  /** How long the job that is stuck longest has not got on, in milliseconds. To be asked now and then: it compares with the last time. */
  stalledMs(): number;
  /** Ends once what was begun is done. */
  close(): Promise<void>;
}

/** One job on its way to a worker. */
export type JobMessage = { [Name in JobName]: { readonly job: Name; readonly input: Jobs[Name]['input'] } }[JobName];

/** A job as a worker gets it. */
export type JobOrder = JobMessage & { readonly mounts: KnownMounts };

/** What a worker sends: the answer to its one job, that the job threw, or that it waits before a step of apply. */
export type WorkerMessage = { readonly output: unknown } | { readonly error: unknown } | { readonly step: ApplyStep };

export interface WorkerOptions {
  readonly places: OpenedPlaces;
  /** See `countProgress`. */
  readonly progress: SharedArrayBuffer;
  /** Set when the control thread wants to hear of each step of apply before it is done: the worker waits at index 0. */
  readonly stepGate?: SharedArrayBuffer | undefined;
}

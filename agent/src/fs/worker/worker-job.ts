import type { ContentId } from '@lockstep/shared';
import type { PackedFiles } from '../../core/packed-files.ts';
import type { ActionRequest, ChangedMount, ContentSource, PolledFiles, SyncResult } from '../../sync/ports/folder.ts';
import type { Observation, ObserveRequest } from '../../sync/ports/observation.ts';
import type { SoughtChunks } from '../../sync/ports/pieces.ts';
import type { Applied } from '../apply/apply.ts';
import type { ArrivedBlock, StageBlockOutcome, StagedCopies, StoredBlock } from '../apply/block-store.ts';
import type { CopiedHashes, DraftBlock, DraftCopy, FilledDraft, WrittenBlock } from '../apply/draft.ts';
import type { KeptVersion } from '../apply/history.ts';
import type { KeepRequest } from '../apply/keep.ts';
import type { ApplyStep } from '../fault-point.ts';
import type { KnownMounts, MountIdentity } from '../mounts/mount-identity.ts';
import type { OpenedPlaces } from '../places.ts';
import type { ExpectedBlock, HashedContent } from '../read/content-id.ts';
import type { ListedDirectory } from '../read/list-directory.ts';

/** The jobs of workers, with input and output. */
export interface Jobs {
  observe: { input: readonly ObserveRequest[]; output: readonly Observation[] };
  list: { input: readonly string[]; output: readonly ListedDirectory[] };
  poll: { input: PackedFiles; output: PolledFiles };
  mapped: { input: undefined; output: readonly string[] };
  inUse: { input: undefined; output: readonly string[] };
  apply: { input: readonly ActionRequest[]; output: Applied };
  /** `left`: those of `paths` that were not covered by a sync of their whole file system. */
  sync: { input: { readonly paths: readonly string[]; readonly left: readonly string[] }; output: SyncResult };
  stageBlocks: {
    input: { readonly blocks: readonly ArrivedBlock[]; readonly isFirst: boolean };
    output: readonly StageBlockOutcome[];
  };
  stageCopies: {
    input: { readonly path: string; readonly copies: readonly StoredBlock[]; readonly isFirst: boolean };
    output: StagedCopies;
  };
  findStaged: { input: readonly ExpectedBlock[]; output: readonly number[] };
  unstage: { input: ContentId; output: undefined };
  writeDraft: { input: DraftBlock; output: WrittenBlock };
  copyDraft: { input: DraftCopy; output: CopiedHashes };
  finishDraft: { input: FilledDraft; output: HashedContent | 'lost' };
  dropDraft: { input: string; output: undefined };
  /** A block with `into`, shared memory of its length, is read into it, and its output has no bytes. */
  readBlocks: {
    input: readonly { readonly block: ExpectedBlock; readonly source: ContentSource; readonly into?: Uint8Array }[];
    output: readonly (Uint8Array | 'filled' | undefined)[];
  };
  holdsBlock: { input: { readonly block: ExpectedBlock; readonly source: ContentSource }; output: boolean };
  recipe: {
    input: { readonly block: ExpectedBlock; readonly source: ContentSource };
    output: Uint8Array | undefined;
  };
  chunks: {
    input: { readonly path: string; readonly offset: number; readonly length: number };
    output: Uint8Array | undefined;
  };
  findPieces: { input: SoughtChunks; output: readonly Float64Array[] };
  keep: { input: readonly KeepRequest[]; output: readonly (KeptVersion | boolean)[] };
  inHistory: { input: readonly ContentId[]; output: readonly ContentId[] };
  listHistory: { input: { readonly from: number; readonly to: number }; output: readonly KeptVersion[] };
  checkMounts: { input: readonly string[]; output: readonly ChangedMount[] };
  acceptMount: { input: string; output: readonly MountIdentity[] };
  forgetHistory: { input: readonly ContentId[]; output: undefined };
}

export type JobName = keyof Jobs;

/**
 * The worker that may run a job. One worker runs urgent jobs, which are those under the folder lock and never take seconds. The other one
 * runs background jobs. Both run jobs of lane `any`.
 */
export type Lane = 'urgent' | 'background' | 'any';

/** Runs jobs. */
export interface JobRunner {
  /** The mounts that each job gets when it begins. */
  mounts: KnownMounts;
  /** Runs a job. `transfer`: buffers that the worker takes over. Rejects if the job throws or the runner has ended. */
  run<Name extends JobName>(
    job: Name,
    input: Jobs[Name]['input'],
    lane?: Lane,
    transfer?: readonly ArrayBuffer[],
  ): Promise<Jobs[Name]['output']>;
  /** The longest time that a running job made no progress, in milliseconds. Call it regularly: it compares with the last call. */
  stalledMs(): number;
  /** Ends once running jobs are done. The read of a large file is given up. */
  close(): Promise<void>;
}

/** A job and its input. */
export type JobMessage = { [Name in JobName]: { readonly job: Name; readonly input: Jobs[Name]['input'] } }[JobName];

/** A job as it is sent to a worker. */
export type JobOrder = JobMessage & { readonly mounts: KnownMounts };

/** A message from a worker: the output or error of its job, or that it waits before a step of apply. */
export type WorkerMessage = { readonly output: unknown } | { readonly error: unknown } | { readonly step: ApplyStep };

export interface WorkerOptions {
  readonly places: OpenedPlaces;
  /** See `countProgress`. */
  readonly progress: SharedArrayBuffer;
  /** Set if the control thread must be notified before each step of apply: the worker waits at index 0. */
  readonly stepGate?: SharedArrayBuffer | undefined;
}

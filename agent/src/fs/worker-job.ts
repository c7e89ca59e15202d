import type { ContentId } from '@lockstep/shared';
import type { ActionRequest, ActionResult, ContentSource, Observation, ObserveRequest } from '../sync/ports/folder.ts';
import type { ContentDescription, KeptVersion } from './block-store.ts';
import type { ExpectedBlock } from './content-id.ts';
import type { ApplyStep } from './fault-point.ts';
import type { ListedDirectory } from './list-directory.ts';
import type { Places } from './places.ts';

/** What workers do: for each job what they are given and what they answer. */
export interface Jobs {
  observe: { input: readonly ObserveRequest[]; output: readonly Observation[] };
  list: { input: readonly string[]; output: readonly ListedDirectory[] };
  apply: { input: readonly ActionRequest[]; output: readonly ActionResult[] };
  stageBlock: {
    input: { readonly block: ExpectedBlock; readonly bytes: Uint8Array };
    output: 'ok' | 'corrupt' | 'disk-full';
  };
  unstage: { input: ContentId; output: undefined };
  readBlock: {
    input: { readonly block: ExpectedBlock; readonly source: ContentSource };
    output: Uint8Array | undefined;
  };
  keep: { input: ContentDescription & { readonly source: ContentSource }; output: boolean };
  inHistory: { input: readonly ContentId[]; output: readonly ContentId[] };
  listHistory: {
    input: { readonly skip: number; readonly limit: number };
    output: { readonly bytes: number; readonly oldest: readonly KeptVersion[] };
  };
  forgetHistory: { input: readonly ContentId[]; output: undefined };
}

export type JobName = keyof Jobs;

/** One job on its way to a worker. */
export type JobMessage = { [Name in JobName]: { readonly job: Name; readonly input: Jobs[Name]['input'] } }[JobName];

/** What a worker sends: the answer to its one job, that the job threw, or that it waits before a step of apply. */
export type WorkerMessage = { readonly output: unknown } | { readonly error: unknown } | { readonly step: ApplyStep };

export interface WorkerOptions {
  readonly places: Places;
  /** Set when the control thread wants to hear of each step of apply before it is done: the worker waits at index 0. */
  readonly stepGate?: SharedArrayBuffer | undefined;
}

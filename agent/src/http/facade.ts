import type {
  EventsPage,
  EventsQuery,
  Health,
  Journey,
  LeaveResult,
  MemberReport,
  OperationsPage,
  OperationsQuery,
  PathReport,
  ReplayRequest,
  ReplayResult,
  RescanResult,
  SearchQuery,
  SearchResult,
  Status,
  TreePage,
  TreeQuery,
  VerifyRequest,
  VerifyResult,
  WaitRequest,
  WaitResult,
} from '@lockstep/shared/api';
import type { ConflictFacade } from './conflict-facade.ts';
import type { LatencyFacade } from './latency-facade.ts';
import type { ControlFacade } from './routes/control.ts';
import type { TransfersFacade } from './routes/transfers.ts';

/** Sums since the agent started and lengths of queues now, for `/metrics`. What `status` says is not repeated. */
export interface MetricsSnapshot {
  /** Operations journaled for changes made in this folder. */
  readonly operationsMade: number;
  /** Operations journaled that other members made. */
  readonly operationsReceived: number;
  /** Entries written, renamed or removed in this folder for other members' operations. */
  readonly entriesApplied: number;
  /** Bytes of the files among them. */
  readonly bytesApplied: number;
  /** Conflict copies made here. */
  readonly conflictCopies: number;
  /** Whole scans of the folder. */
  readonly scans: number;
  /** Items waiting in each queue, by a fixed name: `dirty`, `pending`, `fetch`, … */
  readonly queues: Readonly<Record<string, number>>;
}

/** The replicated tree, for who walks through it. */
export interface TreeFacade {
  /** `path` is empty or has passed `pathFault`. A directory that is not there has no entries. */
  tree(query: TreeQuery): TreePage;
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchResult>;
}

/** What the routes of the operation log need. */
export interface OperationsFacade {
  operations(query: OperationsQuery): OperationsPage;
  /** Undefined where the log holds no such operation. */
  journey(origin: string, seq: number): Journey | undefined;
  /** Calls `wake` after operations were journaled, until the returned function is called. Readers ask `operations`. */
  onJournaled(wake: () => void): () => void;
}

/**
 * What the HTTP routes need of the running agent. The agent implements it; the routes add nothing but HTTP.
 *
 * Expected failures are `LockstepError`s, whose sentence reaches the person who asked. An aborted signal means that the asker
 * has gone: stop working for him; the result is dropped.
 */
export interface AgentFacade
  extends ConflictFacade,
    ControlFacade,
    LatencyFacade,
    OperationsFacade,
    TransfersFacade,
    TreeFacade {
  health(): Health;
  status(): Status;
  /** All members, those that left included: this one first, then by name. */
  members(): readonly MemberReport[];
  /** `path` has passed `pathFault`. */
  path(path: string): PathReport | Promise<PathReport>;
  wait(request: WaitRequest, signal: AbortSignal): Promise<WaitResult>;
  /** Resolves once the retirement is journaled and the connected members were told; the agent stops by itself afterwards. */
  leave(): Promise<LeaveResult>;
  replay(request: ReplayRequest, signal: AbortSignal): Promise<ReplayResult>;
  verify(request: VerifyRequest, signal: AbortSignal): Promise<VerifyResult>;
  rescan(signal: AbortSignal): Promise<RescanResult>;
  /** Kept events with a number above `after`, oldest first. */
  events(query: EventsQuery): EventsPage;
  /** Calls `wake` after events were added, until the returned function is called. It carries nothing: readers ask `events`. */
  onEvents(wake: () => void): () => void;
  metrics(): MetricsSnapshot;
}

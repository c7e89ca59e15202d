import type { OriginId } from '@lockstep/shared';
import { LockstepError } from '@lockstep/shared';
import type {
  AcceptMountRequest,
  AcceptMountResult,
  ConflictsPage,
  ConflictsQuery,
  EventsPage,
  EventsQuery,
  Health,
  Journey,
  Latencies,
  LatencyHistory,
  LatencyHistoryQuery,
  LeaveResult,
  MemberReport,
  OperationsPage,
  OperationsQuery,
  PathReport,
  PauseResult,
  RecentLatencies,
  ReplayRequest,
  ReplayResult,
  RescanResult,
  ResolveRequest,
  ResolveResult,
  RetryResult,
  SearchQuery,
  SearchResult,
  Status,
  Transfers,
  TreePage,
  TreeQuery,
  VerifyRequest,
  VerifyResult,
  WaitRequest,
  WaitResult,
} from '@lockstep/shared/api';
import type { ShownContent } from './http/conflict-facade.ts';
import type { AgentFacade, MetricsSnapshot } from './http/facade.ts';
import { reportConflicts, resolveConflicts } from './http/queries/conflicts.ts';
import { readShownContent } from './http/queries/content.ts';
import { reportJourney } from './http/queries/journey.ts';
import { reportLatencies, reportLatencyHistory, reportRecentLatencies } from './http/queries/latencies.ts';
import { reportMembers } from './http/queries/members.ts';
import { reportLogged } from './http/queries/operations.ts';
import { reportPath } from './http/queries/path.ts';
import { type Place, reportStatus } from './http/queries/status.ts';
import { reportTransfers } from './http/queries/transfers.ts';
import { reportTree, searchTree } from './http/queries/tree.ts';
import { replayInto } from './replay.ts';
import type { Engine } from './sync/engine.ts';

const goodbyeMs = 2_000;

/** The engine as the HTTP routes see it. */
export class EngineFacade implements AgentFacade {
  readonly #engine: Engine;
  readonly #place: Place;
  readonly #left: () => void;

  /** `left` is called once this member has been retired: the agent stops then. */
  constructor(engine: Engine, place: Place, left: () => void) {
    this.#engine = engine;
    this.#place = place;
    this.#left = left;
  }

  health(): Health {
    const { state, health } = this.#engine;
    return health.folder.ok ? { ok: true, state } : { ok: false, state, detail: health.folder.detail };
  }

  status(): Status {
    return reportStatus(this.#engine, this.#place);
  }

  members(): readonly MemberReport[] {
    return reportMembers(this.#engine);
  }

  latencies(): Latencies {
    return reportLatencies(this.#engine);
  }

  latencyHistory(query: LatencyHistoryQuery): LatencyHistory {
    return reportLatencyHistory(this.#engine, query);
  }

  recentLatencies(): RecentLatencies {
    return reportRecentLatencies(this.#engine);
  }

  operations({ before, after, limit, path }: OperationsQuery): OperationsPage {
    const { journal } = this.#engine.context;
    const beforeRow = after === undefined ? (before ?? Number.MAX_SAFE_INTEGER) : undefined;
    const rows = journal.log({ under: path, afterRow: after, beforeRow, limit });
    const operations = rows.map((row) => reportLogged(this.#engine, row));
    return { operations, next: rows.length < limit ? null : (rows.at(-1)?.row ?? null) };
  }

  journey(origin: string, seq: number): Journey | undefined {
    return reportJourney(this.#engine, { origin: origin as OriginId, seq });
  }

  onJournaled(wake: () => void): () => void {
    return this.#engine.journaled.on(wake);
  }

  path(path: string): PathReport {
    return reportPath(this.#engine, path);
  }

  tree(query: TreeQuery): TreePage {
    return reportTree(this.#engine, query);
  }

  search(query: SearchQuery, signal: AbortSignal): Promise<SearchResult> {
    return searchTree(this.#engine, query, signal);
  }

  conflicts(query: ConflictsQuery): ConflictsPage {
    return reportConflicts(this.#engine, query);
  }

  resolveConflicts(request: ResolveRequest): Promise<ResolveResult> {
    return resolveConflicts(this.#engine, request);
  }

  content(path: string, version: string | undefined): Promise<ShownContent> {
    return readShownContent(this.#engine, path, version);
  }

  async wait(request: WaitRequest, signal: AbortSignal): Promise<WaitResult> {
    const outcome = await this.#engine.wait(request, () => signal.aborted);
    return { ...outcome, blocking: outcome.blocking.map((blocking) => ({ ...blocking })) };
  }

  async leave(): Promise<LeaveResult> {
    const told = await this.#engine.retire(goodbyeMs);
    setImmediate(this.#left);
    return { told: [...told] };
  }

  replay({ into }: ReplayRequest, signal: AbortSignal): Promise<ReplayResult> {
    return replayInto(this.#engine, into, signal);
  }

  verify({ repair }: VerifyRequest, signal: AbortSignal): Promise<VerifyResult> {
    return this.#engine.verify(repair, () => signal.aborted);
  }

  async rescan(): Promise<RescanResult> {
    const startMs = performance.now();
    const { operations } = await this.#engine.rescan();
    return { operations, elapsedMs: performance.now() - startMs };
  }

  transfers(): Transfers {
    return reportTransfers(this.#engine);
  }

  pause(): PauseResult {
    const { pause, state, context } = this.#engine;
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

  resume(): PauseResult {
    const { pause } = this.#engine;
    pause.resume();
    return { paused: pause.isOn };
  }

  retry(): RetryResult {
    this.#engine.retry();
    return { paths: this.#engine.context.journal.counts().pending };
  }

  async acceptMount({ path }: AcceptMountRequest): Promise<AcceptMountResult> {
    const { mounts } = this.#engine;
    if (!(await mounts.accept(path))) {
      throw new LockstepError(
        'request-invalid',
        `${path} has no problem mount-changed. lockstep status lists the problems.`,
      );
    }
    return { accepted: path };
  }

  events({ after, limit }: EventsQuery): EventsPage {
    const { journal } = this.#engine.context;
    const [oldest] = journal.events(0, 1);
    const last = journal.lastEventNumber();
    const events = journal
      .events(after, limit)
      .map(({ number, at, kind, data }) => ({ number, at, kind, data: { ...data } }));
    return { events, oldest: oldest?.number ?? last + 1, last };
  }

  onEvents(wake: () => void): () => void {
    return this.#engine.events.onAdded(wake);
  }

  metrics(): MetricsSnapshot {
    const { totals, localChanges, transfers, context } = this.#engine;
    return {
      ...totals,
      queues: {
        dirty: localChanges.unsettled,
        pending: context.journal.counts().pending,
        fetch: transfers.progress().length,
        inbox_bytes: context.inbox.bytes,
      },
    };
  }
}

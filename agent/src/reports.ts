import { memberOf, type Operation, SOFTWARE_VERSION } from '@lockstep/shared';
import type { LoggedOperation, MemberReport, OperationReport, Status } from '@lockstep/shared/api';
import { blockingOrigins, countBehind } from './core/durability.ts';
import { stampMs } from './core/hlc.ts';
import { oldestActive } from './core/membership.ts';
import { countBeyond } from './core/version.ts';
import type { Engine } from './sync/engine.ts';
import type { Peer } from './sync/peers.ts';
import type { LogRow } from './sync/ports/journal.ts';

/** What the reports need besides the engine. */
export interface Place {
  readonly folder: string;
  readonly address: string;
  readonly dashboard: string;
  readonly startedAt: number;
}

const problemsListed = 1_000;

/** An operation for people. */
export function reportOperation(engine: Engine, operation: Operation): OperationReport {
  const { origin, seq, hlc, kind, path, content, replaced, size, mode, mtimeUs, target, from, group } = operation;
  const member = memberOf(origin);
  return {
    origin,
    seq,
    member,
    memberName: engine.peers.nameOf(member),
    at: stampMs(hlc),
    hlc,
    kind,
    path: operation.member ? operation.member.name : path,
    content,
    replaced,
    size,
    mode,
    mtimeUs,
    target,
    from,
    group,
    standing: operation.member?.standing,
  };
}

export function reportLogged(engine: Engine, { row, operation, journaledAt }: LogRow): LoggedOperation {
  return { ...reportOperation(engine, operation), row, journaledAt };
}

/** All members as this one knows them: this one first, then by name. */
export function reportMembers(engine: Engine): readonly MemberReport[] {
  const others = engine.peers.all().map((peer) => reportPeer(engine, peer));
  others.sort((a, b) => a.name.localeCompare(b.name));
  return [reportSelf(engine), ...others];
}

function reportSelf(engine: Engine): MemberReport {
  const { journal, self, problems } = engine.context;
  const counts = journal.counts();
  const latenciesMs: Record<string, number> = {};
  for (const peer of engine.peers.ready()) if (peer.rttMs !== undefined) latenciesMs[peer.id] = peer.rttMs;
  return {
    id: self.id,
    name: self.name,
    self: true,
    state: engine.state,
    stateSince: engine.stateSince,
    paused: engine.pause.isOn ? true : undefined,
    connected: true,
    rttMs: null,
    behind: countBehind(journal.known(), journal.applied()),
    behindSeconds: behindSeconds(engine, journal.applied()),
    addresses: self.addresses,
    software: SOFTWARE_VERSION,
    enabledAt: engine.enabledAt,
    lastSeenAt: engine.context.clock.wallMs(),
    pending: counts.pending,
    problems: problems.count,
    trouble: problems.worst()?.code,
    files: counts.files,
    bytes: counts.bytes,
    freeBytes: engine.health.freeBytes,
    load: engine.load,
    version: journal.known(),
    digest: journal.digest(),
    catchUp: engine.catchUp.progress(),
    latenciesMs,
  };
}

function reportPeer(engine: Engine, peer: Peer): MemberReport {
  const { journal, clock } = engine.context;
  const { heartbeat, hello } = peer;
  const silentMs = peer.lastHeardMs === undefined ? undefined : clock.monotonicMs() - peer.lastHeardMs;
  const record = engine.peers.record(peer.id);
  return {
    id: peer.id,
    name: engine.peers.nameOf(peer.id),
    self: false,
    state: peer.state,
    stateSince: peer.stateSince,
    stopped: peer.state === 'down' && peer.stopped && !peer.paused ? true : undefined,
    paused: peer.state === 'down' && peer.paused ? true : undefined,
    connected: peer.ready,
    rttMs: peer.ready ? (peer.rttMs ?? null) : null,
    behind: countBehind(journal.known(), peer.applied),
    behindSeconds: behindSeconds(engine, peer.applied),
    addresses: record?.addresses ?? hello?.addresses ?? [],
    lastError: peer.ready || peer.lastError === undefined ? undefined : sentence(peer.lastError),
    remote: peer.link?.remote,
    software: hello?.software,
    enabledAt: peer.enabledAt,
    lastSeenAt: silentMs === undefined ? undefined : clock.wallMs() - silentMs,
    clockSkewMs: peer.clockSkewMs,
    pending: heartbeat?.pending,
    problems: heartbeat?.problems,
    trouble: heartbeat?.trouble,
    files: heartbeat?.files,
    bytes: heartbeat?.bytes,
    freeBytes: heartbeat?.freeBytes,
    load: heartbeat?.load,
    // The digest belongs to what the same heartbeat said; an acknowledgement may have said more since.
    version: heartbeat?.known ?? peer.known,
    digest: heartbeat?.digest,
    catchUp: heartbeat?.progress,
    latenciesMs: heartbeat?.latenciesMs,
    queuedBytes: peer.link?.queuedBytes(),
    sentBytes: peer.sent.total,
    receivedBytes: peer.received.total,
  };
}

/** `the connection was lost` → `The connection was lost.` */
function sentence(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Age of the oldest operation that the member does not hold. */
function behindSeconds(engine: Engine, applied: Peer['applied']): number {
  const { journal, clock } = engine.context;
  let oldestMs = clock.wallMs();
  for (const dot of blockingOrigins(applied, journal.known())) {
    const operation = journal.operation(dot);
    if (operation) oldestMs = Math.min(oldestMs, stampMs(operation.hlc));
  }
  return Math.max(0, Math.round((clock.wallMs() - oldestMs) / 100) / 10);
}

export function reportStatus(engine: Engine, place: Place): Status {
  const { journal, self, problems, clock } = engine.context;
  const counts = journal.counts();
  const members = reportMembers(engine);
  const standing = members.filter((member) => member.state !== 'left');
  const problemList = problems.list();
  const known = journal.known();
  return {
    member: {
      id: self.id,
      name: self.name,
      state: engine.state,
      software: SOFTWARE_VERSION,
      startedAt: place.startedAt,
      enabledAt: engine.enabledAt,
      address: place.address,
      addresses: self.addresses,
      folder: place.folder,
      dashboard: place.dashboard,
      origin: journal.origin,
    },
    now: clock.wallMs(),
    paused: engine.pause.isOn,
    synchronised:
      !engine.pause.isOn &&
      engine.state === 'active' &&
      counts.pending === 0 &&
      counts.contested === 0 &&
      engine.localChanges.unsettled === 0 &&
      !engine.dialLoop.isRefused() &&
      standing.every((member) => !member.connected || member.behind === 0) &&
      engine.peers.ready().every((peer) => countBeyond(peer.known, known) === 0),
    pending: counts.pending,
    conflicts: counts.contested,
    conflictCopies: journal.conflictCopyCount(),
    problems: problemList.slice(0, problemsListed).map((problem) => ({ ...problem })),
    problemCount: problems.count,
    files: counts.files,
    directories: counts.directories,
    bytes: counts.bytes,
    freeBytes: engine.health.freeBytes,
    load: engine.load,
    operations: counts.operations,
    version: known,
    digest: journal.digest(),
    lastEvent: journal.lastEventNumber(),
    oldestMember: oldestMember(engine),
    catchUp: engine.catchUp.progress(),
    members,
  };
}

/** The id of the oldest member as this one sees it. */
function oldestMember(engine: Engine): string | undefined {
  const { self } = engine.context;
  const others = engine.peers.all().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
  return oldestActive([{ id: self.id, state: engine.state, enabledAt: engine.enabledAt }, ...others])?.id;
}

import { SOFTWARE_VERSION } from '@lockstep/shared';
import type { MemberReport } from '@lockstep/shared/api';
import { blockingOrigins, countBehind } from '../../core/durability.ts';
import { stampMs } from '../../core/hlc.ts';
import type { Engine } from '../../sync/engine.ts';
import type { Peer } from '../../sync/members/peers.ts';
import { ownProgress, peerProgress } from './progress.ts';
import { asSentence } from './sentence.ts';
import { shownBy } from './shown-by.ts';

/** All members as this one knows them: this one first, then by name. */
export function readMembers(engine: Engine): readonly MemberReport[] {
  const others = engine.peers.all().map((peer) => reportPeer(engine, peer));
  others.sort((a, b) => a.name.localeCompare(b.name));
  return [reportSelf(engine), ...others];
}

function reportSelf(engine: Engine): MemberReport {
  const { journal, self, problems } = engine.context;
  const counts = journal.counts();
  const shown = shownBy(engine, self.id, journal.applied());
  const latenciesMs: Record<string, number> = {};
  for (const peer of engine.peers.ready()) if (peer.rttMs !== undefined) latenciesMs[peer.id] = peer.rttMs;
  return {
    id: self.id,
    name: self.name,
    self: true,
    state: engine.lifecycle.state,
    stateSince: engine.lifecycle.stateSince,
    paused: engine.pause.isOn ? true : undefined,
    connected: true,
    rttMs: null,
    behind: countBehind(journal.known(), shown),
    behindSeconds: behindSeconds(engine, shown),
    addresses: self.addresses,
    software: SOFTWARE_VERSION,
    enabledAt: engine.lifecycle.enabledAt,
    lastSeenAt: engine.context.clock.wallMs(),
    pending: counts.pending,
    problems: problems.count,
    trouble: problems.worst()?.code,
    files: counts.disk.files,
    bytes: counts.disk.bytes,
    progress: ownProgress(engine),
    freeBytes: engine.health.folder.freeBytes,
    load: engine.health.load,
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
  const shown = shownBy(engine, peer.id, peer.applied);
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
    behind: countBehind(journal.known(), shown),
    behindSeconds: behindSeconds(engine, shown),
    addresses: record?.addresses ?? hello?.addresses ?? [],
    lastError: peer.ready || peer.lastError === undefined ? undefined : asSentence(peer.lastError),
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
    progress: peerProgress(engine, peer),
    freeBytes: heartbeat?.freeBytes,
    load: heartbeat?.load,
    // The digest belongs to `known` of the same heartbeat; an acknowledgement may have brought a newer `known` since.
    version: heartbeat?.known ?? peer.known,
    digest: heartbeat?.digest,
    catchUp: heartbeat?.progress,
    latenciesMs: heartbeat?.latenciesMs,
    queuedBytes: peer.link?.queuedBytes(),
    sentBytes: peer.sent.total,
    receivedBytes: peer.received.total,
  };
}

/** The age, in seconds, of the oldest operation that the member does not hold. */
function behindSeconds(engine: Engine, applied: Peer['applied']): number {
  const { journal, clock } = engine.context;
  let oldestMs = clock.wallMs();
  for (const dot of blockingOrigins(applied, journal.known())) {
    const operation = journal.operation(dot);
    if (operation) oldestMs = Math.min(oldestMs, stampMs(operation.hlc));
  }
  return Math.max(0, Math.round((clock.wallMs() - oldestMs) / 100) / 10);
}

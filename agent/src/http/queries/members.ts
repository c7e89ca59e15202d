import { type MemberCondition, refusedByText, removerIn, SOFTWARE_VERSION, type VersionVector } from '@lockstep/shared';
import type { MemberReport } from '@lockstep/shared/api';
import { blockingOrigins, countBehind } from '../../core/durability.ts';
import { stampMs } from '../../core/hlc.ts';
import { withinSeals } from '../../core/marks.ts';
import { peerCondition } from '../../core/membership.ts';
import { joinVectors } from '../../core/version.ts';
import type { Engine } from '../../sync/engine.ts';
import type { Peer } from '../../sync/members/peer.ts';
import { leftAt, removerOf } from '../../sync/members/remover.ts';
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
  const counts = journal.totals.counts();
  const shown = shownBy(engine, self.id, journal.applied());
  const latenciesMs: Record<string, number> = {};
  for (const peer of engine.peers.ready()) if (peer.rttMs !== undefined) latenciesMs[peer.id] = peer.rttMs;
  return {
    id: self.id,
    name: self.name,
    self: true,
    state: engine.lifecycle.state,
    stateSince: engine.pause.isOn ? engine.pause.since : engine.lifecycle.stateSince,
    condition: ownCondition(engine),
    mayBeAway: self.mayBeAway,
    onDemand: self.onDemand,
    connected: true,
    rttMs: null,
    behind: countBehind(knownAround(engine), shown),
    behindSeconds: behindSeconds(engine, shown),
    addresses: self.addresses,
    software: SOFTWARE_VERSION,
    enabledAt: engine.lifecycle.enabledAt,
    lastSeenAt: engine.context.clock.wallMs(),
    pending: counts.pending,
    problems: problems.count,
    worstProblem: problems.worst()?.code,
    lackingCopies: engine.copies.lacking(),
    files: counts.disk.files,
    bytes: counts.disk.bytes,
    progress: ownProgress(engine),
    freeBytes: engine.health.folder.room?.freeBytes,
    load: engine.health.load,
    version: journal.log.known(),
    digest: journal.totals.digest(),
    catchUp: engine.catchUp.progress(),
    latenciesMs,
  };
}

function reportPeer(engine: Engine, peer: Peer): MemberReport {
  const { journal, clock } = engine.context;
  const { said, hello } = peer;
  const heardMs = peer.passedOn?.atMs ?? peer.lastHeardMs;
  const silentMs = heardMs === undefined ? undefined : clock.monotonicMs() - heardMs;
  const shown = shownBy(engine, peer.id, peer.saidApplied);
  const record = engine.peers.record(peer.id);
  const remover = removerOf(journal, peer.id);
  return {
    id: peer.id,
    name: engine.peers.nameOf(peer.id),
    self: false,
    state: peer.state,
    stateSince: leftAt(journal, peer.id) ?? peer.stateSince,
    condition: conditionOf(engine, peer),
    mayBeAway: record?.mayBeAway,
    onDemand: record?.onDemand,
    removedBy: remover && engine.peers.nameOf(remover),
    connected: peer.ready,
    via: peer.passedOn?.by.id,
    rttMs: peer.ready ? (peer.rttMs ?? null) : null,
    behind: countBehind(journal.log.known(), shown),
    behindSeconds: behindSeconds(engine, shown),
    addresses: record?.addresses ?? hello?.addresses ?? [],
    lastError: peer.ready ? undefined : lastErrorOf(peer, engine.peers.nameOf(peer.id)),
    remote: peer.link?.remote,
    software: hello?.software,
    enabledAt: peer.enabledAt,
    lastSeenAt: silentMs === undefined ? undefined : clock.wallMs() - silentMs,
    clockSkewMs: peer.clockSkewMs,
    pending: said?.pending,
    problems: said?.problems,
    worstProblem: said?.worstProblem,
    files: said?.files,
    bytes: said?.bytes,
    progress: peerProgress(engine, peer),
    lackingCopies: said?.lackingCopies,
    freeBytes: said?.freeBytes,
    load: said?.load,
    // The digest belongs to `known` of the same heartbeat; an acknowledgement may have brought a newer `known` since.
    version: said?.known ?? peer.known,
    digest: said?.digest,
    catchUp: said?.progress,
    latenciesMs: said?.latenciesMs,
    queuedBytes: peer.link?.queuedBytes(),
    sentBytes: peer.sent.total,
    receivedBytes: peer.received.total,
  };
}

/**
 * The operations that this member is to have. Without room for its journal it takes none of the others, and would seem to be level with them:
 * then those count that they say they have.
 */
function knownAround({ context, peers }: Engine): VersionVector {
  const { journal, problems } = context;
  const known = journal.log.known();
  if (!problems.has('disk-full')) return known;
  return withinSeals(
    peers.ready().reduce((all, peer) => joinVectors(all, peer.known), known),
    journal.seals.all(),
  );
}

/** The condition of this member. */
export function ownCondition({ pause, lifecycle }: Engine): MemberCondition {
  if (pause.isOn) return 'paused';
  const { state } = lifecycle;
  return state === 'suspect' || state === 'down' ? 'joining' : state;
}

/** The condition of another member as this one sees it. */
export function conditionOf({ pause, peers }: Engine, peer: Peer): MemberCondition {
  return peerCondition({
    state: peer.state,
    connected: peer.ready,
    gone: peer.stopped ? (peer.paused ? 'paused' : 'stopped') : undefined,
    isPassedOn: peer.passedOn !== undefined,
    wasHeard: peers.wasHeard(peer),
    mayBeAway: peers.record(peer.id)?.mayBeAway === true,
    isPausedHere: pause.isOn,
  });
}

/** Why the last session with the member ended, as a sentence; undefined if none did. */
function lastErrorOf({ lastError }: Peer, name: string): string | undefined {
  if (lastError === undefined) return undefined;
  return removerIn(lastError) === undefined ? asSentence(lastError, name) : refusedByText(name, lastError);
}

/** The age, in seconds, of the oldest operation that the member does not hold. */
function behindSeconds(engine: Engine, applied: Peer['applied']): number {
  const { journal, clock } = engine.context;
  let oldestMs = clock.wallMs();
  for (const dot of blockingOrigins(applied, journal.log.known())) {
    const operation = journal.log.operation(dot);
    if (operation) oldestMs = Math.min(oldestMs, stampMs(operation.hlc));
  }
  return Math.max(0, Math.round((clock.wallMs() - oldestMs) / 100) / 10);
}

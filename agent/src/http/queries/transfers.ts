import type { Applied, Operation } from '@lockstep/shared';
import {
  type Departure,
  type Resync,
  type Throughput,
  type TrafficTotal,
  type Transfer,
  type Transfers,
  throughputSampleMs,
} from '@lockstep/shared/api';
import type { HoldingsFilter } from '../../core/cache/holdings-filter.ts';
import { holds } from '../../core/durability.ts';
import { compareMoving, type MovingFile } from '../../core/traffic/member-progress.ts';
import { stalledAfterMs } from '../../core/traffic/rate-meter.ts';
import type { Engine } from '../../sync/engine.ts';
import type { TransferProgress } from '../../sync/exchange/fetch.ts';
import type { Departure as LeavingFile } from '../../sync/measurements/departures.ts';
import type { Peer } from '../../sync/members/peer.ts';
import { heardPeers, ownProgress, peerProgress } from './progress.ts';
import { delayingLimits } from './rate-limits.ts';
import { asSentence } from './sentence.ts';

/** The most paths listed: a person reads no more, and their total is given too. */
const pathsListed = 100;

/** The transfers into this member and the traffic with the others, and why the pending paths wait. */
export function readTransfers(engine: Engine): Transfers {
  const { journal, clock } = engine.context;
  const progress = engine.transfers.progress();
  const nowMs = clock.monotonicMs();
  const leavingFiles = departures(engine, nowMs);
  return {
    arriving: arriving(engine, progress),
    reused: engine.totals.bytesReused,
    leaving: leaving(engine, leavingFiles),
    limits: delayingLimits(engine),
    transfers: progress
      .map((transfer) => reportTransfer(engine, transfer, nowMs))
      .sort((a, b) => compareMoving(movingFile(a, a.done), movingFile(b, b.done))),
    departures: leavingFiles,
    pending: journal.totals.counts().pending,
    pendingPaths: pendingPaths(engine, new Set(progress.map(({ path }) => path))),
    changing: engine.localChanges
      .changing(pathsListed)
      .map(({ path, inMs }) => ({ path, readInS: inMs === undefined ? null : inMs / 1_000 })),
    traffic: engine.peers.ready().map((peer) => ({
      member: peer.id,
      name: engine.peers.nameOf(peer.id),
      sentPerSecond: engine.departures.perSecond(peer),
      receivedPerSecond: peer.received.perSecond(nowMs),
      queuedBytes: peer.link?.queuedBytes() ?? 0,
    })),
    resyncs: resyncs(engine),
  };
}

/** The samples of the operations journaled and of the bytes received and sent in the last minutes. */
export function readThroughput({ context: { clock }, throughput }: Engine): Throughput {
  const offsetMs = clock.wallMs() - clock.monotonicMs();
  return {
    everyMs: throughputSampleMs,
    samples: throughput.samples.map(({ atMs, ...sample }) => ({ at: Math.round(atMs + offsetMs), ...sample })),
  };
}

function reportTransfer(engine: Engine, transfer: TransferProgress, nowMs: number): Transfer {
  const { path, source, rates, size, doneBytes, reusedBytes, bytesPerSecond, startedMs } = transfer;
  const asked = source === undefined ? [] : [{ member: source, bytesPerSecond: 0 }];
  const sources = (rates.length > 0 ? rates : asked).map((rate) => ({
    ...rate,
    name: engine.peers.nameOf(rate.member),
  }));
  const done = Math.min(size, doneBytes);
  return {
    path,
    sources,
    size,
    done,
    reused: Math.min(done, reusedBytes),
    bytesPerSecond,
    secondsLeft: bytesPerSecond > 0 ? (size - done) / bytesPerSecond : null,
    startedAt: engine.context.clock.wallMs() - (nowMs - startedMs),
    waitsFor: waitSentence(transfer, sources[0]?.name ?? null, nowMs),
  };
}

/** A member on demand lacks no bytes: what it fetches, to be read or as a copy, is all that is to come. So is a repair elsewhere. */
function arriving(engine: Engine, fetched: readonly TransferProgress[]): TrafficTotal {
  const progress = ownProgress(engine);
  if (progress === undefined || engine.context.self.onDemand === true)
    return sumOf(fetched.map((file) => ({ ...file, left: Math.max(0, file.size - file.doneBytes) })));
  const { there, total, bytesPerSecond, secondsLeft } = progress;
  return { left: total - there, bytesPerSecond: bytesPerSecond ?? 0, secondsLeft };
}

/**
 * The others get it from all members that have it: what they lack, and until when, is not a matter of this member alone. One on demand does
 * not say what it fetches: the files that come from here count.
 */
function leaving(engine: Engine, sent: readonly Departure[]): TrafficTotal {
  const peers = heardPeers(engine);
  const onDemand = new Set<string>(peers.map(({ id }) => id).filter((id) => engine.peers.isOnDemand(id)));
  const lacking = peers.filter(({ id }) => !onDemand.has(id)).flatMap((peer) => peerProgress(engine, peer) ?? []);
  const fetched = sumOf(
    sent.filter(({ to }) => onDemand.has(to)).map((file) => ({ ...file, left: file.size - file.sent })),
  );
  const times = [...lacking.map(({ secondsLeft }) => secondsLeft), ...(fetched.left > 0 ? [fetched.secondsLeft] : [])];
  return {
    left: lacking.reduce((sum, { there, total }) => sum + total - there, fetched.left),
    bytesPerSecond: engine.peers.ready().reduce((sum, peer) => sum + engine.departures.perSecond(peer), 0),
    secondsLeft: times.length === 0 || times.includes(null) ? null : Math.max(...times.map(Number)),
  };
}

/** The sum of files on their way, which share one line. */
function sumOf(files: readonly { readonly left: number; readonly bytesPerSecond: number }[]): TrafficTotal {
  const left = files.reduce((sum, file) => sum + file.left, 0);
  const bytesPerSecond = files.reduce((sum, file) => sum + file.bytesPerSecond, 0);
  return { left, bytesPerSecond, secondsLeft: left > 0 && bytesPerSecond > 0 ? left / bytesPerSecond : null };
}

function departures(engine: Engine, nowMs: number): readonly Departure[] {
  const wallMs = engine.context.clock.wallMs();
  return engine.departures
    .list((peer, file) => isDelivered(engine, peer, file))
    .map(({ path, to, size, sentBytes, bytesPerSecond, startedMs }) => ({
      path,
      to,
      toName: engine.peers.nameOf(to),
      size,
      sent: sentBytes,
      bytesPerSecond,
      startedAt: wallMs - (nowMs - startedMs),
    }))
    .sort((a, b) => compareMoving(movingFile(a, a.sent), movingFile(b, b.sent)));
}

/** A file of which nothing was sent for this long may have come from another member, or be needed no more. */
const restingAfterMs = 5_000;

/** Whether a member needs no more of a file that it requested. */
function isDelivered({ context, peers }: Engine, { id, applied, holdings }: Peer, file: LeavingFile): boolean {
  if (peers.isOnDemand(id)) return needsNoMoreOnDemand(holdings, file);
  return needsNoMore(context.journal.heads.at(file.path), applied, file);
}

/** The same of a member on demand that tells these holdings. It says so of no single file, and may have read only a part of this one. */
export function needsNoMoreOnDemand(
  holdings: Pick<HoldingsFilter, 'mayHave'> | undefined,
  { content, quietMs }: Pick<LeavingFile, 'content' | 'quietMs'>,
): boolean {
  return quietMs > stalledAfterMs || (quietMs > restingAfterMs && holdings?.mayHave(content) === true);
}

/**
 * Whether a member that applied these operations needs no more of a content that it requested for a path with these heads: it has it, or a
 * later version. Of an old version that is fetched for its own sake, parts leave.
 */
export function needsNoMore(
  heads: readonly Pick<Operation, 'origin' | 'seq' | 'content'>[],
  applied: Applied,
  { content, quietMs }: Pick<LeavingFile, 'content' | 'quietMs'>,
): boolean {
  const wanted = heads.find((head) => head.content === content);
  if (wanted !== undefined) return holds(applied, wanted);
  return quietMs > restingAfterMs && heads.every((head) => holds(applied, head));
}

function movingFile(
  { path, size, bytesPerSecond }: Pick<Transfer, 'path' | 'size' | 'bytesPerSecond'>,
  done: number,
): MovingFile {
  return { path, bytesLeft: size - done, bytesPerSecond };
}

/** The fields of a transfer that decide whether it stands still. */
export type Standstill = Pick<
  TransferProgress,
  'bytesPerSecond' | 'startedMs' | 'progressMs' | 'isAsked' | 'isSending' | 'isShared' | 'isLimited' | 'isFull'
>;

/** The time after a request within which a source is not yet late. */
const patienceMs = 2_000;

/**
 * The reason why no bytes of a transfer arrive; null while they do. `source`: the name of the member that it comes from, if there is one.
 */
export function waitSentence(transfer: Standstill, source: string | null, nowMs: number): string | null {
  const { bytesPerSecond, startedMs, progressMs, isAsked, isSending, isShared, isLimited, isFull } = transfer;
  if (isFull) return 'There is no room for it on this disk.';
  if (bytesPerSecond > 0) return null;
  if (!isAsked && isLimited) return 'The limit for receiving of this member keeps it back.';
  if (!isAsked && isShared) return 'Other members get their parts of it first, and pass them on.';
  if (source === null) return 'Searching for a member that has this content.';
  if (!isAsked) return `Other files come from ${source} first.`;
  if (isSending) return `The next part waits for the line of ${source}, or for its limit for sending.`;
  const silentMs = nowMs - (progressMs ?? startedMs);
  if (silentMs < patienceMs) return `It was requested from ${source} just now.`;
  return `${source} has sent no part of it for ${Math.floor(silentMs / 1_000)} s.`;
}

/** Pending paths without a transfer: those with a problem, then those that this member fetches next. */
function pendingPaths(engine: Engine, moving: ReadonlySet<string>): Transfers['pendingPaths'] {
  const { journal, problems } = engine.context;
  if (journal.totals.counts().pending === 0) return [];
  const limit = pathsListed + moving.size;
  const live = journal.heads.pending({ which: 'live', after: undefined, limit });
  const deleted = live.length < limit ? journal.heads.pending({ which: 'delete', after: undefined, limit }) : [];
  const details = new Map(problems.list().map(({ path, detail }) => [path, detail]));
  const blocked = engine.applyLoop.blocked(limit);
  const next = [...live, ...deleted].map(({ path }) => path);
  const paths = [...new Set([...blocked, ...next])].filter((path) => !moving.has(path));
  return paths.slice(0, pathsListed).map((path) => ({
    path,
    reason: asSentence(details.get(path) ?? engine.applyLoop.reason(path) ?? 'it waits for its turn', path),
  }));
}

/** The members that are catching up, and the others that lack bytes. A member gets the operations first, and is done when its disk shows them. */
function resyncs(engine: Engine): readonly Resync[] {
  const { peers, context, lifecycle } = engine;
  const { state } = lifecycle;
  const own = engine.catchUp.progress();
  const others = heardPeers(engine).map((peer) => ({
    member: peer.id,
    isSyncing: peer.state === 'joining' || peer.state === 'syncing',
    catchUp: peer.said?.progress,
    pending: peer.said?.pending ?? 0,
    progress: peerProgress(engine, peer),
  }));
  const self = {
    member: context.self.id,
    isSyncing: state === 'joining' || state === 'syncing',
    catchUp: own,
    pending: context.journal.totals.counts().pending,
    progress: ownProgress(engine),
  };
  const isLate = ({ isSyncing, catchUp }: typeof self): boolean => isSyncing || catchUp !== undefined;
  return [self, ...others]
    .filter((one) => isLate(one) || (one !== self && one.progress !== undefined))
    .map(({ member, catchUp, pending, progress }) => ({
      member,
      name: peers.nameOf(member),
      source: catchUp?.source ?? null,
      sourceName: catchUp === undefined ? null : peers.nameOf(catchUp.source),
      done: catchUp?.done ?? 0,
      total: catchUp?.total ?? 0,
      pending,
      progress: progress ?? null,
    }));
}

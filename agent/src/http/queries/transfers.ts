import type { Resync, Transfer, Transfers } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';
import type { TransferProgress } from '../../sync/transfer/content-fetcher.ts';
import { asSentence } from './sentence.ts';

/** The most paths listed: a person reads no more, and their total is given too. */
const pathsListed = 100;

/** The transfers into this member and the traffic with the others, and why the pending paths wait. */
export function readTransfers(engine: Engine): Transfers {
  const { journal, clock } = engine.context;
  const progress = engine.transfers.progress();
  const nowMs = clock.monotonicMs();
  return {
    transfers: progress.map((transfer) => reportTransfer(engine, transfer, nowMs)),
    pending: journal.counts().pending,
    pendingPaths: pendingPaths(engine, new Set(progress.map(({ path }) => path))),
    traffic: engine.peers.ready().map((peer) => ({
      member: peer.id,
      name: engine.peers.nameOf(peer.id),
      sentPerSecond: peer.sent.perSecond(nowMs),
      receivedPerSecond: peer.received.perSecond(nowMs),
      queuedBytes: peer.link?.queuedBytes() ?? 0,
    })),
    resyncs: resyncs(engine),
  };
}

function reportTransfer(engine: Engine, transfer: TransferProgress, nowMs: number): Transfer {
  const { path, source, size, doneBytes, bytesPerSecond, startedMs } = transfer;
  const fromName = source === undefined ? null : engine.peers.nameOf(source);
  const done = Math.min(size, doneBytes);
  return {
    path,
    from: source ?? null,
    fromName,
    size,
    done,
    bytesPerSecond,
    secondsLeft: bytesPerSecond > 0 ? (size - done) / bytesPerSecond : null,
    startedAt: engine.context.clock.wallMs() - (nowMs - startedMs),
    waitsFor: waitSentence(transfer, fromName, nowMs),
  };
}

/** The fields of a transfer that decide whether it stands still. */
export type Standstill = Pick<TransferProgress, 'bytesPerSecond' | 'startedMs' | 'progressMs' | 'isAsked' | 'isFull'>;

/** The time after a request within which a source is not yet late. */
const patienceMs = 2_000;

/**
 * The reason why no bytes of a transfer arrive; null while they do. `source`: the name of the member that it comes from, if there is one.
 */
export function waitSentence(transfer: Standstill, source: string | null, nowMs: number): string | null {
  const { bytesPerSecond, startedMs, progressMs, isAsked, isFull } = transfer;
  if (isFull) return 'There is no room for it on this disk.';
  if (source === null) return 'Searching for a member that has this content.';
  if (bytesPerSecond > 0) return null;
  if (!isAsked) return `Other files come from ${source} first.`;
  const silentMs = nowMs - (progressMs ?? startedMs);
  if (silentMs < patienceMs) return `It was requested from ${source} just now.`;
  return `${source} has sent no part of it for ${Math.floor(silentMs / 1_000)} s.`;
}

/** The first pending paths without a transfer. */
function pendingPaths(engine: Engine, moving: ReadonlySet<string>): Transfers['pendingPaths'] {
  const { journal, problems } = engine.context;
  if (journal.counts().pending === 0) return [];
  const limit = pathsListed + moving.size;
  const live = journal.pending({ which: 'live', after: undefined, limit });
  const deleted = live.length < limit ? journal.pending({ which: 'delete', after: undefined, limit }) : [];
  const paths = [...live, ...deleted].map(({ path }) => path).filter((path) => !moving.has(path));
  const details = new Map(problems.list().map(({ path, detail }) => [path, detail]));
  return paths.slice(0, pathsListed).map((path) => ({
    path,
    reason: asSentence(details.get(path) ?? engine.applyLoop.reason(path) ?? 'it waits for its turn'),
  }));
}

/** The members that are catching up. A member gets the operations first, and is done when its disk shows them. */
function resyncs(engine: Engine): readonly Resync[] {
  const { peers, context, lifecycle } = engine;
  const { state } = lifecycle;
  const own = engine.catchUp.progress();
  const others = peers.ready().map((peer) => ({
    member: peer.id,
    isSyncing: peer.state === 'joining' || peer.state === 'syncing',
    catchUp: peer.heartbeat?.progress,
    pending: peer.heartbeat?.pending ?? 0,
  }));
  const self = {
    member: context.self.id,
    isSyncing: state === 'joining' || state === 'syncing',
    catchUp: own,
    pending: context.journal.counts().pending,
  };
  return [self, ...others]
    .filter(({ isSyncing, catchUp }) => isSyncing || catchUp !== undefined)
    .map(({ member, catchUp, pending }) => ({
      member,
      name: peers.nameOf(member),
      source: catchUp?.source ?? null,
      sourceName: catchUp === undefined ? null : peers.nameOf(catchUp.source),
      done: catchUp?.done ?? 0,
      total: catchUp?.total ?? 0,
      pending,
    }));
}

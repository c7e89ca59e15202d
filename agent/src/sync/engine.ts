import {
  cacheDiskShareMax,
  copiesAwayMs,
  historyAgeMsMax,
  historyFilesMax,
  lastSyncMs,
  rescanIntervalMs,
  scrubIntervalMs,
} from '@lockstep/shared';
import type { RateRule } from '../core/traffic/rate-rules.ts';
import { ApplyLoop } from './apply/apply-loop.ts';
import { RenameGate } from './apply/rename-gate.ts';
import { Cache } from './cache/cache.ts';
import type { CacheSize } from './cache/cache-room.ts';
import { recordLostCache } from './cache/lost-cache.ts';
import { ConflictResolver } from './conflicts/resolver.ts';
import { Copies } from './copies/copies.ts';
import { PinFiller } from './copies/pins.ts';
import { Placement } from './copies/placement.ts';
import { PowerCutCheck } from './durability/power-cut-check.ts';
import { Work } from './durability/work.ts';
import { WriteBack } from './durability/write-back.ts';
import { Confirmer } from './integrity/confirmer.ts';
import { Damage } from './integrity/damage.ts';
import { Mounts } from './integrity/mounts.ts';
import { Scrub } from './integrity/scrub.ts';
import { Housekeeping, isOccupied } from './lifecycle/housekeeping.ts';
import { Lifecycle } from './lifecycle/lifecycle.ts';
import { untilSent } from './lifecycle/membership-change.ts';
import { Pause } from './lifecycle/pause.ts';
import { untilGreeted, untilLevel } from './lifecycle/start-up.ts';
import { ChangePoll } from './local/change-poll.ts';
import { followIgnoreRules, IgnoreReload, untilRulesAreKnown } from './local/ignore-reload.ts';
import { LocalChanges } from './local/local-changes.ts';
import { Arrivals } from './measurements/arrivals.ts';
import { DeliveryMeter } from './measurements/delivery-meter.ts';
import { Departures } from './measurements/departures.ts';
import { LatencyHistory } from './measurements/latency-history.ts';
import { ThroughputHistory } from './measurements/throughput.ts';
import { Totals } from './measurements/totals.ts';
import { Forks } from './members/forks.ts';
import { OperationWriter } from './members/operation-writer.ts';
import { OwnOrigin } from './members/own-origin.ts';
import { writeOwnRecord } from './members/own-record.ts';
import { Peers } from './members/peers.ts';
import { Reports } from './members/reports.ts';
import { HoldingsLoop } from './on-demand/holdings-loop.ts';
import { OnDemandFiles, wantAll } from './on-demand/on-demand-files.ts';
import { Prefetcher } from './on-demand/prefetcher.ts';
import { UseRecord } from './on-demand/use-record.ts';
import type { Boot, Clock } from './ports/clock.ts';
import type { Folder } from './ports/folder.ts';
import type { Journal } from './ports/journal.ts';
import type { Log } from './ports/log.ts';
import type { Network } from './ports/network.ts';
import type { RemoteCounters } from './ports/remote-counters.ts';
import { AckLoop } from './replication/acks.ts';
import { CatchUp } from './replication/catch-up.ts';
import { Dialer, noteRefused } from './replication/dialer.ts';
import { Health } from './replication/health.ts';
import { HeartbeatLoop } from './replication/heartbeat.ts';
import { Incoming } from './replication/incoming.ts';
import { helloMessage, measureVitals } from './replication/self-description.ts';
import { Sessions } from './replication/sessions.ts';
import { recordReleased } from './state/apply-actions.ts';
import { type Context, createContext, type Self } from './state/context.ts';
import { writeOnceRoom } from './state/disk-room.ts';
import type { Events } from './state/events.ts';
import { ContentFetcher } from './transfer/content-fetcher.ts';
import { ContentSearch } from './transfer/content-search.ts';
import { OldVersions } from './versions/old-versions.ts';
import { type HistorySize, Retention } from './versions/retention.ts';
import type { WaitQuery } from './wait/keepers.ts';
import { type WaitOutcome, waitForDurability } from './wait/wait.ts';

/** The settings of an engine that can be changed while it runs. */
export interface EngineSettings {
  readonly historySize: HistorySize;
  readonly historyAgeMsMax: number;
  readonly rescanIntervalMs: number;
  readonly scrubIntervalMs: number;
  /** The room for the contents of a member that fetches on demand. */
  readonly cacheSize: CacheSize;
  /** A member that fetches on demand also fetches files before they are read. */
  readonly prefetch: boolean;
  /** The time after which the copies on a silent member are made elsewhere. */
  readonly copiesAwayMs: number;
  /** The limits for blocks to, and from, other members. */
  readonly sendLimit: readonly RateRule[];
  readonly receiveLimit: readonly RateRule[];
}

/** Without a size, history has its share of the disk: see `historyRoom`. */
const defaultSettings: Omit<EngineSettings, 'historySize'> = {
  ...{ historyAgeMsMax, rescanIntervalMs, scrubIntervalMs, copiesAwayMs },
  cacheSize: { share: cacheDiskShareMax },
  prefetch: true,
  sendLimit: [],
  receiveLimit: [],
};

export interface EngineOptions {
  readonly identity: Self;
  /** Addresses to dial in addition to those in the member list. */
  readonly peers: readonly string[];
  readonly journal: Journal;
  readonly folder: Folder;
  readonly network: Network;
  readonly clock: Clock;
  readonly log: Log;
  readonly remoteCounters?: RemoteCounters | undefined;
  /** Operations or rows that one transaction journals; see `transactionRowsMax`. */
  readonly transactionRows?: number | undefined;
  /** Returns the processors in use since its last call, for the heartbeat. */
  readonly load?: (() => number) | undefined;
  /** The present boot of the machine; undefined if it is unknown. */
  readonly boot?: Boot | undefined;
  /** Those that are missing have their defaults. */
  readonly settings?: Partial<EngineSettings> | undefined;
}

/** One member: creates its loops, and starts and stops them in order. The loops wake each other by facts. */
export class Engine {
  readonly context: Context;
  readonly events: Events;
  readonly peers: Peers;
  readonly localChanges: LocalChanges;
  readonly applyLoop: ApplyLoop;
  readonly transfers: ContentFetcher;
  readonly search: ContentSearch;
  readonly arrivals: Arrivals;
  readonly departures: Departures;
  readonly catchUp: CatchUp;
  readonly dialer: Dialer;
  readonly latencies = new LatencyHistory();
  readonly throughput = new ThroughputHistory();
  readonly health: Health;
  readonly oldVersions: OldVersions;
  readonly retention: Retention;
  readonly cache: Cache;
  readonly onDemand: OnDemandFiles;
  readonly copies: Copies;
  readonly pause: Pause;
  readonly mounts: Mounts;
  readonly ackLoop: AckLoop;
  readonly writeBack: WriteBack;
  readonly damage: Damage;
  readonly confirmer: Confirmer;
  readonly changePoll: ChangePoll;
  readonly totals: Totals;
  readonly lifecycle: Lifecycle;
  readonly operationWriter: OperationWriter;
  readonly incoming: Incoming;
  readonly work = new Work();

  readonly #options: EngineOptions;
  readonly #heartbeat: HeartbeatLoop;
  readonly #holdings: HoldingsLoop;
  readonly #sessions: Sessions;
  readonly #resolver: ConflictResolver;
  readonly #scrub: Scrub;
  readonly #ignoreReload: IgnoreReload;
  readonly #powerCut: PowerCutCheck;
  readonly #pinFiller: PinFiller;
  readonly #reads: Reads | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { journal, clock } = options;
    const settings = { ...defaultSettings, ...options.settings };
    this.context = createContext(options);
    const { context } = this;
    recordReleased(context, context.folder.released);
    context.limits.send.limit(settings.sendLimit);
    context.limits.receive.limit(settings.receiveLimit);
    this.events = context.events;
    this.totals = new Totals(context);
    this.lifecycle = new Lifecycle(context);
    this.health = new Health(context, options.load);
    // Sessions subscribe to `made` before the other loops, so that new operations are sent first.
    const ownOrigin = new OwnOrigin(context, () => this.peers.closeAll('this member begins a new incarnation'));
    this.operationWriter = new OperationWriter(context, ownOrigin);
    this.peers = new Peers(context, {
      message: (peer, link, message) => this.#sessions.message(peer, link, message),
      closed: (peer, link, reason) => this.#sessions.close(peer, link, reason),
      helloMessage: () => helloMessage(this),
    });
    const { peers } = this;
    this.transfers = new ContentFetcher(context, peers);
    this.search = new ContentSearch(context, peers);
    this.arrivals = new Arrivals(context, this.transfers, () => this.catchUp.progress() !== undefined);
    this.departures = new Departures(context);
    this.incoming = new Incoming(context, this.operationWriter);
    this.catchUp = new CatchUp(context, peers, ({ link }) => this.incoming.owes(link));
    this.#heartbeat = new HeartbeatLoop(context, peers, () => measureVitals(this));
    this.#holdings = new HoldingsLoop(context, peers);
    const { catchUp, transfers, search, incoming, departures, operationWriter } = this;
    const forks = new Forks(context, { peers, operationWriter, ownOrigin });
    const [heartbeat, holdings] = [this.#heartbeat, this.#holdings];
    const reports = new Reports(context, peers);
    const placement = new Placement(context, peers, settings.copiesAwayMs);
    const serving = { peers, catchUp, transfers, search, departures, incoming, forks, ownOrigin, placement };
    this.#sessions = new Sessions(context, { ...serving, heartbeat, holdings, reports });
    this.dialer = new Dialer(context, { peers, network: options.network, fixed: options.peers });

    this.localChanges = new LocalChanges(context, operationWriter, { rescanIntervalMs: settings.rescanIntervalMs });
    context.missing.heed((path) => this.localChanges.isOpen(path));
    this.mounts = new Mounts(context);
    this.#ignoreReload = new IgnoreReload(context, () => this.lifecycle.phase === 'active');
    this.changePoll = new ChangePoll(context, (path) => this.localChanges.isOpen(path));
    this.oldVersions = new OldVersions(context, transfers);
    this.applyLoop = new ApplyLoop(context, transfers, new RenameGate(journal, clock, () => peers.ready()));
    const joining = { operationWriter, peers, transfers };
    this.#resolver = new ConflictResolver(context, joining, () => this.lifecycle.seniority);

    const isBusy = (): boolean => isOccupied(this);
    this.damage = new Damage(context);
    this.#scrub = new Scrub(context, this.damage, { intervalMs: settings.scrubIntervalMs, isBusy });
    this.ackLoop = new AckLoop(context, peers);
    this.writeBack = new WriteBack(context);
    this.confirmer = new Confirmer(context, isBusy);
    const kept = { size: settings.historySize, filesMax: historyFilesMax, ageMsMax: settings.historyAgeMsMax };
    this.retention = new Retention(context, kept, (content) => this.oldVersions.isHeld(content));
    context.facts.second.on(() => this.retention.measured(this.health.folder.room));
    this.cache = new Cache(context, {
      ...{ peers, search, size: settings.cacheSize },
      arrivedBytes: (path) => transfers.arrivedBytes(path),
      measureDisk: () => this.health.measure(),
    });
    this.onDemand = new OnDemandFiles(context, {
      ...{ transfers, search },
      cache: this.cache,
      reasonOf: (path) => this.applyLoop.hindrance(path),
    });
    const bring = (path: string) => this.onDemand.bring(path);
    this.#pinFiller = new PinFiller(context, { fetch: bring, raised: this.cache.room.raised });
    this.#reads = context.self.onDemand && followReads(this, settings.prefetch);
    this.copies = new Copies(context, {
      ...{ peers, operationWriter, placement },
      isActive: () => this.lifecycle.state === 'active',
      fetch: bring,
      bytesMax: () => this.cache.room.bytesMax,
      roomBytes: () => this.cache.room.roomBytes,
    });
    this.cache.dropper.keptBy(this.copies.placement);
    context.wanted.limitedBy((bytes) => this.cache.room.hasRoom(bytes));
    new DeliveryMeter(context, peers, () => this.localChanges.unsettled > 0);
    new Housekeeping(context, this);
    this.pause = new Pause(context, this);
    this.#powerCut = new PowerCutCheck(context);
  }

  /**
   * Starts the member: listens and dials, pulls the operations that it lacks, compares the folder with the journal, and applies the
   * pending paths. Resolves when it is active, or when it is stopped before.
   */
  async start(): Promise<void> {
    const { context, lifecycle, peers } = this;
    const { network, boot } = this.#options;
    this.events.add('started', { name: context.self.name });
    if (!context.self.onDemand) wantAll(context);
    this.#holdings.start();
    // Before the first operation arrives: ignored paths must not be written.
    await followIgnoreRules(context, false);
    await this.applyLoop.recordInterrupted();
    if (!lifecycle.enter('greeting')) return;
    this.#powerCut.begin(boot, () => this.applyLoop.poke());
    network.onLink((link) => peers.accept(link));
    network.onRefused((remote, reason) => noteRefused(context, remote, reason));
    this.pause.start();
    const greeted = untilGreeted(context, peers, this.#options.peers.length > 0);
    this.dialer.start();
    this.#heartbeat.start();
    // An empty journal must first learn the operations of the others: otherwise it would journal their files as its own.
    await greeted;
    if (!lifecycle.enter('pulling')) return;
    await this.catchUp.first();
    if (!lifecycle.enter('scanning')) return;
    const join = () => writeOwnRecord(context, this.operationWriter, { membership: 'joined' });
    if (!(await writeOnceRoom(context.clock, join, () => lifecycle.isLeaving))) return;
    await untilRulesAreKnown(context, () => lifecycle.isLeaving);
    if (lifecycle.isLeaving) return;
    await this.mounts.check();
    if (context.self.onDemand) await recordLostCache(context);
    await this.localChanges.start();
    if (!lifecycle.enter('applying')) return;
    this.#powerCut.compared();
    // All that blocked operations during the pull has been examined by now.
    this.applyLoop.unblock();
    this.#resolver.poke();
    this.retention.start();
    this.writeBack.poke();
    this.confirmer.poke();
    this.changePoll.start();
    await untilLevel(context, this.transfers);
    if (!lifecycle.enter('active')) return;
    this.#scrub.start();
    this.#reads?.prefetcher.refill();
    this.events.add('active', { name: context.self.name, operations: context.journal.log.length() });
    await this.#heartbeat.send();
  }

  /** Sends `leave` and stops all loops. The caller closes the journal and the adapters. */
  async stop(): Promise<void> {
    if (!this.lifecycle.leave()) return;
    this.#sessions.stop();
    this.peers.broadcast({ type: 'leave', retire: false });
    this.events.add('stopped', { name: this.context.self.name });
    this.dialer.stop();
    this.#powerCut.stop();
    this.localChanges.stop();
    this.applyLoop.stop();
    this.oldVersions.stop();
    this.transfers.stop();
    this.#resolver.stop();
    this.retention.stop();
    this.#pinFiller.stop();
    this.#reads?.prefetcher.stop();
    this.copies.stop();
    this.#scrub.stop();
    this.confirmer.stop();
    this.changePoll.stop();
    this.#ignoreReload.stop();
    this.damage.stop();
    this.ackLoop.stop();
    this.#heartbeat.stop();
    this.#holdings.stop();
    await Promise.all([untilSent(this.context, this.peers), this.writeBack.stop(lastSyncMs)]);
    this.peers.stop('the member stopped');
    // Wait for the holder of the folder lock, so that no batch is half done when the adapters close.
    await this.context.lock.run(() => Promise.resolve());
    // This stores the reads whose file was put in place meanwhile, too.
    this.#reads?.uses.store();
  }

  /** See `waitForDurability`. */
  wait(query: WaitQuery, aborted: () => boolean = () => false): Promise<WaitOutcome> {
    return waitForDurability(this, query, aborted);
  }

  /** Puts other settings in force. */
  change({
    historySize,
    historyAgeMsMax: ageMsMax,
    rescanIntervalMs: scansMs,
    scrubIntervalMs: scrubsMs,
    cacheSize,
    prefetch,
    copiesAwayMs: awayMs,
    sendLimit,
    receiveLimit,
  }: EngineSettings): void {
    const { send, receive } = this.context.limits;
    send.limit(sendLimit);
    receive.limit(receiveLimit);
    this.retention.limit({ size: historySize, ageMsMax });
    this.cache.room.limit(cacheSize);
    this.#reads?.prefetcher.enable(prefetch);
    this.copies.placement.awayAfter(awayMs);
    this.localChanges.scanEvery(scansMs);
    this.#scrub.every(scrubsMs);
  }

  /** Retries at once: blocked paths, and members that did not answer. */
  retry(): void {
    this.peers.failures.retry();
    this.dialer.redial();
    this.applyLoop.unblock();
    this.#resolver.poke();
  }
}

/** The loops of a member on demand that follow what is read there. */
interface Reads {
  readonly uses: UseRecord;
  readonly prefetcher: Prefetcher;
}

function followReads({ context, cache, onDemand: files, health }: Engine, isPrefetching: boolean): Reads {
  context.facts.roomMeasured.on(() => {
    const { room } = health.folder;
    if (room !== undefined) cache.room.measured(room);
  });
  context.facts.second.on(() => cache.keepWithinRoom());
  const uses = new UseRecord(context, { files, cache });
  const prefetcher = new Prefetcher(context, { files, cache, uses });
  prefetcher.enable(isPrefetching);
  return { uses, prefetcher };
}

/** Creates one member over the given adapters; nothing runs before `start`. */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(options);
}

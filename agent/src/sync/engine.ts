import type { MemberState, Operation } from '@lockstep/shared';
import {
  historyAgeMsMax,
  historyBytesMax,
  historyFilesMax,
  lastSyncMs,
  memberOf,
  scrubIntervalMs,
} from '@lockstep/shared';
import type { VerifyResult } from '@lockstep/shared/api';
import { holdsIgnoreRules } from '../core/ignore-rules.ts';
import { ApplyLoop } from './apply/apply-loop.ts';
import { recordInterruptedBatch } from './apply/interrupted-batch.ts';
import { RenameGate } from './apply/rename-gate.ts';
import { ConflictResolver } from './conflicts/resolver.ts';
import { DeliveryMeter } from './durability/delivery-meter.ts';
import { type Repairer, verifyMember } from './durability/verify.ts';
import { type WaitOutcome, type WaitQuery, waitForDurability } from './durability/wait.ts';
import { WriteBack } from './durability/write-back.ts';
import { Housekeeping } from './housekeeping.ts';
import { Confirmer } from './integrity/confirmer.ts';
import { Damage } from './integrity/damage.ts';
import { type Boot, PowerCutCheck } from './integrity/power-cut-check.ts';
import { Scrub } from './integrity/scrub.ts';
import { announce } from './lifecycle/announce.ts';
import { untilDrained, untilTold } from './lifecycle/farewell.ts';
import { Pause } from './lifecycle/pause.ts';
import { StartUp } from './lifecycle/start-up.ts';
import { ChangePoll } from './local/change-poll.ts';
import { followIgnoreRules, untilRulesAreKnown } from './local/ignore-reload.ts';
import { LocalChanges } from './local/local-changes.ts';
import { Mounts } from './local/mounts.ts';
import { Forks } from './members/forks.ts';
import { LatencyHistory } from './members/latency-history.ts';
import { OperationWriter } from './members/operation-writer.ts';
import { OwnOrigin } from './members/own-origin.ts';
import { type Peer, Peers } from './members/peers.ts';
import type { Clock } from './ports/clock.ts';
import type { Folder } from './ports/folder.ts';
import type { Journal } from './ports/journal.ts';
import type { Log } from './ports/log.ts';
import type { Network } from './ports/network.ts';
import { AckLoop } from './replication/acks.ts';
import { CatchUp } from './replication/catch-up.ts';
import { Dialer, refusalLastsMs } from './replication/dialer.ts';
import { Health } from './replication/health.ts';
import { HeartbeatLoop } from './replication/heartbeat.ts';
import { Incoming } from './replication/incoming.ts';
import { helloMessage, measureVitals } from './replication/self-description.ts';
import { Sessions } from './replication/sessions.ts';
import { Signal } from './scheduling/signal.ts';
import { type Context, createContext, type Self } from './state/context.ts';
import { Events } from './state/events.ts';
import { rulesRestMs } from './state/ignore-file.ts';
import { ContentFetcher } from './transfer/content-fetcher.ts';
import { OldVersions } from './transfer/old-versions.ts';
import { Retention } from './transfer/retention.ts';

export interface EngineOptions {
  readonly identity: Self;
  /** Addresses to dial besides those in the member list. */
  readonly peers: readonly string[];
  readonly journal: Journal;
  readonly folder: Folder;
  readonly network: Network;
  readonly clock: Clock;
  readonly log: Log;
  /** Processors in use since the last call, for the heartbeat. */
  readonly load?: (() => number) | undefined;
  readonly historyBytesMax?: number | undefined;
  readonly historyAgeMsMax?: number | undefined;
  readonly rescanIntervalMs?: number | undefined;
  /** Which run of the machine this is. Undefined where that cannot be told. */
  readonly boot?: Boot | undefined;
  readonly scrubIntervalMs?: number | undefined;
}

/** Sums since the start, for the metrics. */
export interface EngineTotals {
  operationsMade: number;
  operationsReceived: number;
  entriesApplied: number;
  bytesApplied: number;
  scans: number;
  conflictCopies: number;
}

/** One member at work: creates the loops, leads what happens to the loops it concerns, and starts and stops them in order. */
export class Engine {
  readonly context: Context;
  readonly events: Events;
  readonly peers: Peers;
  readonly localChanges: LocalChanges;
  readonly applyLoop: ApplyLoop;
  readonly transfers: ContentFetcher;
  readonly catchUp: CatchUp;
  readonly dialer: Dialer;
  readonly latencies = new LatencyHistory();
  readonly health: Health;
  readonly oldVersions: OldVersions;
  readonly pause: Pause;
  readonly mounts: Mounts;
  readonly ackLoop: AckLoop;
  readonly writeBack: WriteBack;
  readonly damage: Damage;
  readonly confirmer: Confirmer;
  readonly changePoll: ChangePoll;
  /** Called after operations were journaled. */
  readonly journaled = new Signal();
  readonly totals: EngineTotals = {
    operationsMade: 0,
    operationsReceived: 0,
    entriesApplied: 0,
    bytesApplied: 0,
    scans: 0,
    conflictCopies: 0,
  };
  state: MemberState = 'joining';
  /** When it took that state, wall clock. */
  stateSince: number;
  enabledAt: number | undefined;

  readonly #options: EngineOptions;
  readonly #operationWriter: OperationWriter;
  readonly incoming: Incoming;
  readonly #heartbeat: HeartbeatLoop;
  readonly #sessions: Sessions;
  readonly #startUp: StartUp;
  readonly #resolver: ConflictResolver;
  readonly #gate: RenameGate;
  readonly #retention: Retention;
  readonly #scrub: Scrub;
  readonly #bursts: DeliveryMeter;
  readonly #powerCut: PowerCutCheck;
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { journal, clock } = options;
    this.events = new Events(journal, clock);
    this.context = createContext(options, this.events);
    this.stateSince = clock.wallMs();
    this.health = new Health(this.context, options.load);
    const ownOrigin = new OwnOrigin(this.context, () => {
      for (const { link } of this.peers.all()) link?.close('this member begins a new incarnation');
    });
    this.#operationWriter = new OperationWriter(this.context, ownOrigin, (operations) => this.#committed(operations));
    this.peers = new Peers(this.context, {
      ready: (peer) => this.#sessions.open(peer),
      message: (peer, message) => this.#sessions.message(peer, message),
      closed: (peer, link, reason) => this.#sessions.close(peer, link, reason),
      helloMessage: () => helloMessage(this),
    });
    this.localChanges = new LocalChanges(
      this.context,
      this.#operationWriter,
      options.rescanIntervalMs,
      () => this.totals.scans++,
    );
    this.mounts = new Mounts(this.context, () => {
      this.localChanges.scan('', true);
      this.applyLoop.unpark();
    });
    this.transfers = new ContentFetcher(this.context, this.peers, (outcome, paths) => {
      this.applyLoop.fetched(paths);
      // What nobody has now is asked for again later: at once would be an endless loop.
      if (outcome === 'ok') this.#resolver.poke();
    });
    this.context.missing.onLost = () => this.#resolver.poke();
    this.oldVersions = new OldVersions(this.context, this.transfers);
    this.#gate = new RenameGate(journal, clock, () => this.peers.ready());
    this.applyLoop = new ApplyLoop(this.context, this.transfers, this.#gate, {
      applied: (count, bytes) => this.#applied(count, bytes),
      look: (path) => this.localChanges.mark(path),
      scan: (directory) => this.localChanges.scan(directory, true),
      ignoreRules: () => this.#ignoreRulesChanged(),
      sync: () => this.writeBack.hurry(),
    });
    this.incoming = new Incoming(this.context, this.#operationWriter, (operations) => this.#arrived(operations));
    this.catchUp = new CatchUp(
      this.context,
      this.peers,
      ({ link }) => this.incoming.owes(link),
      ({ source, operations, ms }) => {
        this.events.add('resynced', { source, name: this.peers.nameOf(source), operations, ms: Math.round(ms) });
      },
    );
    this.damage = new Damage(this.context, {
      found: () => {
        this.ackLoop.poke();
        this.applyLoop.poke();
      },
      look: (path) => this.localChanges.mark(path),
      repaired: (path) => this.events.add('repaired', { path }),
    });
    this.ackLoop = new AckLoop(this.context, this.peers);
    this.writeBack = new WriteBack(this.context, () => {
      this.ackLoop.poke();
      this.confirmer.poke();
    });
    const look = (path: string): void => this.localChanges.mark(path);
    this.confirmer = new Confirmer(this.context, { look, isBusy: () => this.#isBusy() });
    this.changePoll = new ChangePoll(this.context, { look, isOpen: (path) => this.localChanges.isOpen(path) });
    this.dialer = new Dialer(this.context, options.network, this.peers, options.peers, () =>
      this.#startUp.roundDialled(),
    );
    const upkeep = new Housekeeping(this.context, this, this.#gate, () => this.#refreshStates());
    this.#heartbeat = new HeartbeatLoop(
      this.context,
      this.peers,
      () => measureVitals(this),
      () => {
        upkeep.beat();
        // What mends a file that could not be read may be no change that is journaled: a permission, or a pipe that is removed.
        const { fault, isWaiting } = this.context.ignored;
        if (isWaiting || (this.state === 'active' && fault !== undefined)) this.#ignoreRulesChanged();
      },
    );
    const { peers, events, catchUp, transfers } = this;
    const forks = new Forks(this.context, { peers, events, operationWriter: this.#operationWriter, ownOrigin });
    this.#sessions = new Sessions(
      this.context,
      { peers, events, catchUp, transfers, incoming: this.incoming, heartbeat: this.#heartbeat, forks, ownOrigin },
      {
        opened: (peer) => this.#opened(peer),
        closed: (peer) => this.#closed(peer),
        acknowledged: () => this.#bursts.acknowledged(this.peers.ready(), this.localChanges.unsettled > 0),
        heartbeat: () => this.#refreshStates(),
      },
    );
    this.#startUp = new StartUp(this.context, this.peers, this.transfers);
    this.#resolver = new ConflictResolver(
      this.context,
      this.#operationWriter,
      this.peers,
      this.transfers,
      () => ({
        id: this.context.self.id,
        state: this.state === 'active' ? 'active' : 'syncing',
        enabledAt: this.enabledAt,
      }),
      ({ path, copy, loser }) => {
        this.totals.conflictCopies++;
        this.events.add('conflict', { path, copy, member: loser, name: this.peers.nameOf(loser) });
      },
      ({ path, origin }) => {
        const member = memberOf(origin);
        this.events.add('content-lost', { path, member, name: this.peers.nameOf(member) });
      },
    );
    this.#retention = new Retention(this.context, {
      bytesMax: options.historyBytesMax ?? historyBytesMax,
      filesMax: historyFilesMax,
      ageMsMax: options.historyAgeMsMax ?? historyAgeMsMax,
    });
    this.#scrub = new Scrub(this.context, this.damage, {
      intervalMs: options.scrubIntervalMs ?? scrubIntervalMs,
      isBusy: () => this.#isBusy(),
    });
    this.#bursts = new DeliveryMeter(clock, (delivered) => this.events.add('delivered', { ...delivered }));
    this.pause = new Pause(this.context, this);
    this.#powerCut = new PowerCutCheck(this.context, this.events);
  }

  /**
   * Begins to listen and dial, gets level with the others, compares the folder with the journal, and goes on from there.
   * Resolves when this member is active.
   */
  async start(): Promise<void> {
    const { network } = this.#options;
    const { journal } = this.context;
    this.events.add('started', { name: this.context.self.name });
    // Before the first operation arrives: what is ignored here is not written.
    await followIgnoreRules(this.context, false);
    await recordInterruptedBatch(this.context);
    if (this.#stopped) return;
    this.#powerCut.begin(this.#options.boot, () => this.applyLoop.poke());
    network.onLink((link) => this.peers.accept(link));
    network.onRefused((remote, reason) => {
      // Each attempt comes from another port: the host is what stays.
      const member = remote.slice(0, remote.lastIndexOf(':'));
      this.context.problems.set('member-refused', { member }, reason, refusalLastsMs);
    });
    this.pause.start();
    const firstRound = this.#startUp.firstRound();
    this.dialer.start();
    this.#heartbeat.start();
    // A journal that knows nothing must first hear what the others know: else it would take their files for its own news.
    await firstRound;
    await this.catchUp.first((state) => {
      this.#take(state);
    });
    if (this.#stopped) return;
    announce(this.context, this.#operationWriter, 'joined');
    await untilRulesAreKnown(this.context, () => this.#stopped);
    if (this.#stopped) return;
    await this.mounts.check();
    await this.localChanges.start();
    if (this.#stopped) return;
    this.applyLoop.poke();
    this.#resolver.poke();
    this.#retention.start();
    this.writeBack.poke();
    this.confirmer.poke();
    this.changePoll.start();
    await this.#startUp.level();
    if (this.#stopped) return;
    this.#take('active');
    this.enabledAt = this.stateSince;
    this.#scrub.start();
    this.events.add('active', { name: this.context.self.name, operations: journal.counts().operations });
    await this.#heartbeat.send();
  }

  #take(state: MemberState): void {
    if (state === this.state) return;
    this.state = state;
    this.stateSince = this.context.clock.wallMs();
  }

  /** Says goodbye and stops all loops. The journal and the adapters are the caller's to close. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
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
    this.#retention.stop();
    this.#scrub.stop();
    this.confirmer.stop();
    this.changePoll.stop();
    this.damage.stop();
    this.ackLoop.stop();
    this.#heartbeat.stop();
    this.#startUp.stop();
    await Promise.all([untilDrained(this.context.clock, this.peers), this.writeBack.stop(lastSyncMs)]);
    this.peers.stop('the member stopped');
    // Whatever holds the folder finishes first, so that nothing is half done when the adapters close.
    await this.context.lock.run(() => Promise.resolve());
  }

  /** Retires this member: the others no longer count it. Resolves with the names of those that hold the retirement. */
  async retire(timeoutMs: number): Promise<readonly string[]> {
    const operation = announce(this.context, this.#operationWriter, 'left');
    const told = await untilTold(this.context.clock, this.peers, operation, timeoutMs);
    this.peers.broadcast({ type: 'leave', retire: true });
    return told.map((peer) => this.peers.nameOf(peer.id));
  }

  /** See `waitForDurability`. */
  wait(query: WaitQuery, aborted: () => boolean = () => false): Promise<WaitOutcome> {
    const { context, peers, localChanges, mounts, writeBack, confirmer } = this;
    const reason = (path: string): string | undefined => this.applyLoop.reason(path);
    const isStopping = (): boolean => this.#stopped;
    const parts = { context, peers, localChanges, mounts, writeBack, confirmer, reason, aborted, isStopping };
    return waitForDurability(parts, query);
  }

  /** See `verifyMember`. */
  verify(repair: boolean, aborted: () => boolean): Promise<VerifyResult> {
    const repairer: Repairer = {
      check: (path) => this.damage.check(path),
      look: (path) => this.localChanges.mark(path),
      retry: () => this.applyLoop.unpark(),
      isFetching: () => this.transfers.progress().length > 0,
      reason: (path) => this.applyLoop.reason(path),
    };
    return verifyMember(this.context, aborted, repair ? repairer : undefined);
  }

  /** Compares the whole folder with the journal now, and tries again whatever was put off. */
  async rescan(): Promise<{ readonly operations: number }> {
    const before = this.totals.operationsMade;
    await this.localChanges.settleAll('', new Promise(() => undefined));
    this.applyLoop.unpark();
    return { operations: this.totals.operationsMade - before };
  }

  /** Tries again at once whatever was put off: paths that could not be brought to their heads, and members that did not answer. */
  retry(): void {
    this.peers.failures.retry();
    this.dialer.redial();
    this.applyLoop.unpark();
    this.#resolver.poke();
  }

  #isBusy(): boolean {
    return this.localChanges.unsettled > 0 || this.transfers.progress().length > 0;
  }

  #refreshStates(): void {
    this.peers.refreshStates((peer) => {
      if (peer.state === 'down') this.events.add('down', this.peers.about(peer));
      if (peer.state === 'left') this.events.add('left', this.peers.about(peer));
      this.#resolver.poke();
    });
  }

  #opened(peer: Peer): void {
    this.#refreshStates();
    this.#heartbeat.send(peer).catch(() => undefined);
    this.applyLoop.unpark();
    this.#resolver.poke();
  }

  #closed(peer: Peer): void {
    this.dialer.lost(peer.id);
    this.#refreshStates();
    this.applyLoop.poke();
    this.#resolver.poke();
  }

  #committed(operations: readonly Operation[]): void {
    this.totals.operationsMade += operations.length;
    this.#bursts.committed(operations);
    for (const { path, kind } of operations) if (kind === 'put') this.changePoll.changed(path);
    this.#sessions.poke();
    this.journaled.all();
    this.ackLoop.poke();
    this.writeBack.poke();
    this.applyLoop.poke();
    this.#resolver.poke();
    if (operations.some(({ path }) => holdsIgnoreRules(path))) this.#ignoreRulesChanged();
  }

  #arrived(operations: readonly Operation[]): void {
    this.totals.operationsReceived += operations.length;
    this.peers.judgeAgain();
    this.journaled.all();
    this.ackLoop.poke();
    // In the middle of a large rename there is nothing to do yet, and streaming all of it again for each frame would cost.
    if (operations.some((operation) => this.#gate.isOpen(operation))) this.applyLoop.poke();
    this.#resolver.poke();
  }

  #applied(count: number, bytes: number): void {
    this.totals.entriesApplied += count;
    this.totals.bytesApplied += bytes;
    this.incoming.confirm();
    this.ackLoop.poke();
  }

  #ignoreRulesChanged(): void {
    this.#reloadIgnoreRules().catch((error: unknown) => {
      this.context.log.error({ error: String(error) }, 'the ignore rules could not be read');
    });
  }

  /** Reads `.lockstepignore` again. What is no longer ignored is compared and brought up to date; nothing is ever deleted by it. */
  async #reloadIgnoreRules(): Promise<void> {
    const { clock, ignored } = this.context;
    const hasChanged = await followIgnoreRules(this.context);
    if (ignored.isWaiting) {
      clock.after(rulesRestMs, () => {
        if (!this.#stopped && ignored.isWaiting) this.#ignoreRulesChanged();
      });
    }
    if (!hasChanged) return;
    this.localChanges.scan('', true);
    this.applyLoop.unpark();
  }
}

/** Wires one member's loops over the given adapters; nothing runs before `start`. */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(options);
}

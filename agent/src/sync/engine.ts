import type { ContentId, HelloMessage, MemberState, Operation, PeerMessage } from '@lockstep/shared';
import { historyBytesMax, inlineWaitingBytesMax, memberPath, outboxBytesMax, SOFTWARE_VERSION } from '@lockstep/shared';
import { ignoreFileName } from '../core/ignore-rules.ts';
import { AckLoop } from './ack-loop.ts';
import { BurstMeter } from './burst-meter.ts';
import { CatchUp } from './catch-up.ts';
import { ContentServer } from './content-server.ts';
import type { Context, Self } from './context.ts';
import { DialLoop, refusalLastsMs } from './dial-loop.ts';
import { reportRoom } from './disk-room.ts';
import { type WaitOutcome, type WaitQuery, waitForDurability } from './durability-wait.ts';
import { Events } from './events.ts';
import { FolderLock } from './folder-lock.ts';
import { GroupGate } from './group-gate.ts';
import { HeartbeatLoop, type Vitals } from './heartbeat-loop.ts';
import { followIgnoreRules, ignoreRulesSetting } from './ignore-change.ts';
import { IgnoreFile } from './ignore-file.ts';
import { Incoming } from './incoming.ts';
import { InlineContents } from './inline-contents.ts';
import { LatencyHistory, latencyRows } from './latency-history.ts';
import { LocalChanges } from './local-changes.ts';
import { Materialiser } from './materialiser.ts';
import { withdrawOfAbsent } from './member-troubles.ts';
import { Outgoing } from './outgoing.ts';
import { OwnLog } from './own-log.ts';
import { Pause } from './pause.ts';
import { type Peer, Peers } from './peers.ts';
import type { Clock } from './ports/clock.ts';
import type { Folder, FolderHealth } from './ports/folder.ts';
import type { Journal } from './ports/journal.ts';
import type { Log } from './ports/log.ts';
import type { Link, Network } from './ports/network.ts';
import { Problems } from './problems.ts';
import { Retention } from './retention.ts';
import { SharedBatches } from './shared-batches.ts';
import { showsUpTo } from './shown.ts';
import { Steward } from './steward.ts';
import { Transfers } from './transfers.ts';
import { Wakes } from './wakes.ts';

/** A member that starts alone does not wait longer than this for others to answer. */
const firstRoundMs = 3_000;
/** How long `stop` lets the last messages leave. */
const goodbyeMs = 200;
const askAgainMs = 50;

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
  readonly rescanIntervalMs?: number | undefined;
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

interface Session {
  readonly outgoing: Outgoing;
  readonly server: ContentServer;
}

/** One member at work: creates the loops, leads what happens to the loops it concerns, and starts and stops them in order. */
export class Engine {
  readonly context: Context;
  readonly events: Events;
  readonly peers: Peers;
  readonly localChanges: LocalChanges;
  readonly materialiser: Materialiser;
  readonly transfers: Transfers;
  readonly catchUp: CatchUp;
  readonly dialLoop: DialLoop;
  readonly latencies = new LatencyHistory();
  readonly pause: Pause;
  readonly ackLoop: AckLoop;
  /** Called after operations were journaled. */
  readonly journaled = new Wakes();
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
  health: FolderHealth = { ok: true, freeBytes: 0 };
  load = 0;

  readonly #options: EngineOptions;
  readonly #ownLog: OwnLog;
  readonly #incoming: Incoming;
  readonly #heartbeat: HeartbeatLoop;
  readonly #steward: Steward;
  readonly #gate: GroupGate;
  readonly #retention: Retention;
  readonly #bursts: BurstMeter;
  readonly #sessions = new Map<Peer, Session>();
  /** Old versions that are being copied from staging into history. */
  readonly #obtaining = new Set<ContentId>();
  #firstRound: (() => void) | undefined;
  #stopped = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { journal, folder, clock, log } = options;
    this.events = new Events(journal, clock);
    const problems = new Problems(clock, (problem) => {
      log.warn({ ...problem }, problem.detail);
      this.events.add('problem', { ...problem });
    });
    this.context = {
      self: options.identity,
      journal,
      batches: new SharedBatches(journal),
      folder,
      clock,
      log,
      problems,
      lock: new FolderLock(),
      ignored: new IgnoreFile(journal.setting(ignoreRulesSetting) ?? ''),
      inbox: new InlineContents(inlineWaitingBytesMax),
      outbox: new InlineContents(outboxBytesMax),
    };
    this.stateSince = clock.wallMs();
    this.#ownLog = new OwnLog(this.context, (operations) => this.#committed(operations));
    this.peers = new Peers(this.context, {
      ready: (peer) => this.#ready(peer),
      message: (peer, message) => this.#message(peer, message),
      closed: (peer, link, reason) => this.#closed(peer, link, reason),
      helloMessage: () => this.#hello(),
    });
    this.localChanges = new LocalChanges(
      this.context,
      this.#ownLog,
      options.rescanIntervalMs,
      () => this.totals.scans++,
    );
    this.transfers = new Transfers(this.context, this.peers, (outcome, paths) => {
      this.materialiser.fetched(paths);
      // What nobody has now is asked for again later: at once would be an endless loop.
      if (outcome === 'ok') this.#steward.poke();
    });
    this.#gate = new GroupGate(journal, clock, () => this.peers.ready());
    this.materialiser = new Materialiser(this.context, this.transfers, this.#gate, {
      applied: (count, bytes) => this.#applied(count, bytes),
      look: (path) => this.localChanges.mark(path),
      scan: (directory) => this.localChanges.scan(directory, true),
      ignoreRules: () => this.#ignoreRulesChanged(),
    });
    this.#incoming = new Incoming(this.context, this.#ownLog, (operations) => this.#arrived(operations));
    this.catchUp = new CatchUp(
      this.context,
      this.peers,
      ({ link }) => this.#incoming.owes(link),
      ({ source, operations, ms }) => {
        this.events.add('resynced', { source, name: this.peers.nameOf(source), operations, ms: Math.round(ms) });
      },
    );
    this.ackLoop = new AckLoop(this.context, this.peers);
    this.#heartbeat = new HeartbeatLoop(
      this.context,
      this.peers,
      () => this.#vitals(),
      () => this.#beat(),
    );
    this.#steward = new Steward(
      this.context,
      this.#ownLog,
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
    );
    this.#retention = new Retention(this.context, options.historyBytesMax ?? historyBytesMax);
    this.#bursts = new BurstMeter(clock, (delivered) => this.events.add('delivered', { ...delivered }));
    this.dialLoop = new DialLoop(this.context, options.network, this.peers, options.peers, () => this.#firstRound?.());
    this.pause = new Pause(this.context, this);
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
    await followIgnoreRules(this.context);
    if (this.#stopped) return;
    network.onLink((link) => this.peers.accept(link));
    network.onRefused((remote, reason) => {
      // Each attempt comes from another port: the host is what stays.
      const member = remote.slice(0, remote.lastIndexOf(':'));
      this.context.problems.set('member-refused', { member }, reason, refusalLastsMs);
    });
    this.pause.start();
    const firstRound = this.#waitForFirstRound();
    this.dialLoop.start();
    this.#heartbeat.start();
    // A journal that knows nothing must first hear what the others know: else it would take their files for its own news.
    await firstRound;
    await this.catchUp.first((state) => {
      this.#take(state);
    });
    if (this.#stopped) return;
    this.#announce('joined');
    await this.localChanges.start();
    if (this.#stopped) return;
    this.materialiser.poke();
    this.#steward.poke();
    this.#retention.start();
    await this.#whenLevel();
    if (this.#stopped) return;
    this.#take('active');
    this.enabledAt = this.stateSince;
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
    this.peers.broadcast({ type: 'leave', retire: false });
    this.events.add('stopped', { name: this.context.self.name });
    this.dialLoop.stop();
    this.localChanges.stop();
    this.materialiser.stop();
    this.transfers.stop();
    this.#steward.stop();
    this.#retention.stop();
    this.ackLoop.stop();
    this.#heartbeat.stop();
    this.#levelled?.();
    await this.#drained();
    this.peers.stop('the member stopped');
    // Whatever holds the folder finishes first, so that nothing is half done when the adapters close.
    await this.context.lock.run(() => Promise.resolve());
  }

  /** Retires this member: the others no longer count it. Resolves with the names of those that hold the retirement. */
  async retire(timeoutMs: number): Promise<readonly string[]> {
    const operation = this.#announce('left');
    const { clock } = this.context;
    const startMs = clock.monotonicMs();
    const told = (): readonly Peer[] =>
      this.peers.ready().filter((peer) => operation && (peer.known[operation.origin] ?? 0) >= operation.seq);
    while (told().length < this.peers.ready().length && clock.monotonicMs() - startMs < timeoutMs) {
      await new Promise<void>((resolve) => clock.after(10, resolve));
    }
    this.peers.broadcast({ type: 'leave', retire: true });
    return told().map((peer) => this.peers.nameOf(peer.id));
  }

  /** See `waitForDurability`. */
  wait(query: WaitQuery, aborted: () => boolean = () => false): Promise<WaitOutcome> {
    const { context, peers, localChanges } = this;
    const reason = (path: string): string | undefined => this.materialiser.reason(path);
    return waitForDurability({ context, peers, localChanges, reason, aborted }, query);
  }

  /** Compares the whole folder with the journal now, and tries again whatever was put off. */
  async rescan(): Promise<{ readonly operations: number }> {
    const before = this.totals.operationsMade;
    await this.localChanges.settleAll('', new Promise(() => undefined));
    this.materialiser.unpark();
    return { operations: this.totals.operationsMade - before };
  }

  /** Tries again at once whatever was put off: paths that could not be brought to their heads, and members that did not answer. */
  retry(): void {
    this.dialLoop.redial();
    this.materialiser.unpark();
    this.#steward.poke();
  }

  /** Fetches a content that is not on this member into `history/`; false when nobody reachable has it. */
  async obtain(operation: Operation): Promise<boolean> {
    const { content, blocks, size = 0 } = operation;
    if (content === undefined) return false;
    const { clock } = this.context;
    const outcome = await new Promise((resolve) => {
      const ask = (): void => {
        if (!this.transfers.fetch(operation, resolve) && !this.#stopped) clock.after(askAgainMs, ask);
      };
      ask();
    });
    if (outcome !== 'ok') return false;
    this.#obtaining.add(content);
    try {
      return await this.context.folder.keep({ content, blocks, size, source: { from: 'staged' } });
    } finally {
      this.#obtaining.delete(content);
      this.transfers.drop(content);
    }
  }

  #levelled: (() => void) | undefined;

  /** Resolves when the disk shows what the journal says now, but for paths that have a problem or wait for someone. */
  async #whenLevel(): Promise<void> {
    const { journal, problems, clock } = this.context;
    const goal = journal.known();
    const sinceMs = clock.monotonicMs();
    let left = journal.counts().pending;
    let movedMs = sinceMs;
    while (!this.#stopped && !showsUpTo(journal, goal, problems.count)) {
      const { pending } = journal.counts();
      if (pending !== left || this.transfers.progress().length > 0) movedMs = clock.monotonicMs();
      left = pending;
      // What does not move for so long waits for a member that is away; the others are not kept waiting for that.
      if (clock.monotonicMs() - movedMs > firstRoundMs) return;
      await new Promise<void>((resolve) => {
        this.#levelled = resolve;
        clock.after(20, resolve);
      });
    }
  }

  #waitForFirstRound(): Promise<void> {
    const { clock, journal } = this.context;
    return new Promise((resolve) => {
      const timer = clock.after(firstRoundMs, resolve);
      this.#firstRound = () => {
        timer.cancel();
        // Whoever answered says hello within moments; until then it is not known what it knows.
        const wait = (rounds: number): void => {
          const open = this.peers.all().some((peer) => peer.link !== undefined && !peer.ready);
          if (!open || rounds === 0) resolve();
          else clock.after(10, () => wait(rounds - 1));
        };
        wait(journal.counts().operations === 0 ? 100 : 20);
      };
    });
  }

  /** Puts this member's entry into the member list, unless it is there. */
  #announce(standing: 'joined' | 'left'): Operation | undefined {
    const { journal, self } = this.context;
    const path = memberPath(self.id);
    const heads = journal.heads(path);
    const [known] = heads;
    const member = { id: self.id, name: self.name, addresses: self.addresses, standing };
    if (heads.length === 1 && JSON.stringify(known?.member) === JSON.stringify(member)) return known;
    return this.#ownLog.commit([{ path, kind: 'member', member, parents: heads }])[0];
  }

  #hello(): HelloMessage {
    const { journal, self } = this.context;
    return {
      type: 'hello',
      name: self.name,
      addresses: self.addresses,
      origin: journal.origin,
      known: journal.known(),
      applied: journal.applied(),
      state: this.state,
      enabledAt: this.enabledAt,
      software: SOFTWARE_VERSION,
    };
  }

  async #vitals(): Promise<Vitals> {
    this.health = await this.context.folder.health();
    if (this.health.ok) reportRoom(this.context.problems, this.health.freeBytes);
    this.load = this.#options.load?.() ?? 0;
    return {
      state: this.state,
      enabledAt: this.enabledAt,
      load: this.load,
      freeBytes: this.health.freeBytes,
      progress: this.catchUp.progress(),
    };
  }

  #beat(): void {
    this.#checkFolder();
    this.#refreshStates();
    this.#noteLatencies();
    this.context.problems.expire();
    this.materialiser.withdrawProblems();
    withdrawOfAbsent(this.context.problems, this.peers);
    this.peers.learn();
    this.dialLoop.refresh();
    this.transfers.tick();
    this.transfers.dropUnneeded((content) => this.#needsStaged(content));
    this.catchUp.check();
    if (this.#gate.tick()) this.materialiser.poke();
    // What was not sent within seconds can be read from the folder again.
    this.context.outbox.age();
  }

  #noteLatencies(): void {
    const { self, clock } = this.context;
    const others = this.peers.all().filter(({ state }) => state !== 'left');
    const members = new Set([self.id, ...others.map(({ id }) => id)]);
    this.latencies.note(clock.monotonicMs(), members, latencyRows(self.id, this.peers));
  }

  /** A version that was superseded is not put in place any more, and one that is on the disk by other means is copied from there. */
  #needsStaged(content: ContentId): boolean {
    const { journal } = this.context;
    if (this.#obtaining.has(content)) return true;
    return journal.headWithContent(content) !== undefined && journal.diskWithContent(content, 1).length === 0;
  }

  #checkFolder(): void {
    const { problems } = this.context;
    if (!this.health.ok) {
      problems.set('folder-missing', {}, this.health.detail ?? 'The folder cannot be used.');
    } else if (problems.has('folder-missing')) {
      problems.clear('folder-missing');
      this.localChanges.scan('', true);
      this.materialiser.unpark();
    }
  }

  #refreshStates(): void {
    this.peers.refreshStates((peer) => {
      if (peer.state === 'down') this.events.add('down', this.#about(peer));
      if (peer.state === 'left') this.events.add('left', this.#about(peer));
      this.#steward.poke();
    });
  }

  #about(peer: Peer): Record<string, unknown> {
    return { member: peer.id, name: this.peers.nameOf(peer.id), reason: peer.lastError };
  }

  /**
   * A journal restored from a backup numbers operations that others have seen already. They are pulled like any others; what
   * this member makes from now on gets numbers of a new incarnation.
   */
  #renewIfOutdated(peer: Peer): boolean {
    const { journal, log } = this.context;
    const { origin } = journal;
    if ((peer.known[origin] ?? 0) <= (journal.known()[origin] ?? 0)) return false;
    journal.renewOrigin();
    log.warn({ origin, now: journal.origin, peer: peer.id }, 'the journal is older than what others know of it');
    for (const other of this.peers.all()) other.link?.close('this member begins a new incarnation');
    return true;
  }

  #ready(peer: Peer): void {
    const { link } = peer;
    if (link === undefined || this.#renewIfOutdated(peer)) return;
    const sent = (bytes: number): void => {
      peer.sent.add(bytes, this.context.clock.monotonicMs());
    };
    this.#sessions.set(peer, {
      outgoing: new Outgoing(this.context, link, sent, (operations) =>
        peer.sentAt.addAll(operations, this.context.clock.wallMs()),
      ),
      server: new ContentServer(this.context, link, sent),
    });
    this.events.add('joined', { ...this.#about(peer), reason: undefined, remote: link.remote });
    this.catchUp.ready(peer);
    this.#refreshStates();
    this.#heartbeat.send(peer).catch(() => undefined);
    this.materialiser.unpark();
    this.#steward.poke();
  }

  #closed(peer: Peer, link: Link, reason: string): void {
    const session = this.#sessions.get(peer);
    session?.outgoing.close();
    session?.server.close();
    this.#sessions.delete(peer);
    this.#incoming.closed(link);
    if (this.#stopped) return;
    this.events.add('away', { ...this.#about(peer), reason });
    this.transfers.closed(peer);
    this.catchUp.closed(peer);
    this.dialLoop.lost(peer.id);
    this.#refreshStates();
    this.materialiser.poke();
    this.#steward.poke();
  }

  #message(peer: Peer, message: PeerMessage): void {
    const session = this.#sessions.get(peer);
    if (session === undefined || this.#stopped) return;
    switch (message.type) {
      case 'subscribe':
        session.outgoing.subscribe(message.origin, message.after);
        return;
      case 'operations':
        this.catchUp.progressed(peer);
        this.#incoming.operations(peer, message);
        return;
      case 'received':
        session.outgoing.received(message.id);
        return;
      case 'pull':
        session.outgoing.pull(message.id, message.known);
        return;
      case 'pulled':
        this.catchUp.pulled(peer, message);
        return;
      case 'want':
        session.server.want(message);
        return;
      case 'block':
        this.transfers.block(peer, message.id, message.bytes);
        return;
      case 'missing':
        this.transfers.missing(peer, message.id);
        return;
      case 'ack':
        this.#bursts.acknowledged(this.peers.ready(), this.localChanges.unsettled > 0);
        return;
      case 'heartbeat':
        peer.link?.send({ type: 'heartbeat-reply', id: message.id });
        this.#heartbeat.received(peer, message);
        this.#refreshStates();
        return;
      case 'heartbeat-reply':
        this.#heartbeat.reply(peer, message.id);
        return;
      // These begin and end a session: see `Peers`.
      case 'leave':
      case 'hello':
        return;
    }
  }

  #committed(operations: readonly Operation[]): void {
    this.totals.operationsMade += operations.length;
    this.#bursts.committed(operations);
    for (const session of this.#sessions.values()) session.outgoing.poke();
    this.journaled.all();
    this.ackLoop.poke();
    this.materialiser.poke();
    this.#steward.poke();
    if (operations.some(({ path }) => path === ignoreFileName)) this.#ignoreRulesChanged();
  }

  #arrived(operations: readonly Operation[]): void {
    this.totals.operationsReceived += operations.length;
    this.journaled.all();
    this.ackLoop.poke();
    // In the middle of a large rename there is nothing to do yet, and streaming all of it again for each frame would cost.
    if (operations.some((operation) => this.#gate.isOpen(operation))) this.materialiser.poke();
    this.#steward.poke();
  }

  #applied(count: number, bytes: number): void {
    this.totals.entriesApplied += count;
    this.totals.bytesApplied += bytes;
    this.#incoming.confirm();
    this.ackLoop.poke();
  }

  #ignoreRulesChanged(): void {
    this.reloadIgnoreRules().catch((error: unknown) => {
      this.context.log.error({ error: String(error) }, 'the ignore rules could not be read');
    });
  }

  /** Reads `.lockstepignore` again. What is no longer ignored is compared and brought up to date; nothing is ever deleted by it. */
  async reloadIgnoreRules(): Promise<void> {
    if (!(await followIgnoreRules(this.context))) return;
    this.localChanges.scan('', true);
    this.materialiser.unpark();
  }

  /** Resolves when all that was queued for the others has been handed over, or after a moment. */
  async #drained(): Promise<void> {
    const { clock } = this.context;
    const untilMs = clock.monotonicMs() + goodbyeMs;
    const queued = (): boolean => this.peers.ready().some((peer) => (peer.link?.queuedBytes() ?? 0) > 0);
    while (queued() && clock.monotonicMs() < untilMs) await new Promise<void>((resolve) => clock.after(5, resolve));
  }
}

/** Wires one member's loops over the given adapters; nothing runs before `start`. */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(options);
}

import { LockstepError, type MemberId } from '@lockstep/shared';
import { createEngine, type Engine } from '../../sync/engine.ts';
import type { Folder } from '../../sync/ports/folder.ts';
import type { Journal } from '../../sync/ports/journal.ts';
import { CrashedError, Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { SimClock, WallClock } from '../base/sim-clock.ts';
import type { Story } from '../base/story.ts';
import type { Content } from '../disk/content.ts';
import { type DiskImage, fileTimeStepMs } from '../disk/disk.ts';
import { DiskError } from '../disk/disk-error.ts';
import { fingerprintOf, type Inode, sameFingerprint } from '../disk/inode.ts';
import { Volume } from '../disk/volume.ts';
import type { Torn } from '../disk/write-cache.ts';
import { openSimFolder } from '../folder/sim-folder.ts';
import type { Medium } from '../network/sim-network.ts';
import type { ValueKey } from '../users/ledger.ts';
import { agentLog } from './agent-log.ts';
import { gateJournal } from './journal-gate.ts';
import type { JournalShelf } from './journal-shelf.ts';
import { Journals } from './journals.ts';
import type { MachineConduct } from './scenario.ts';

/** The interval of scrubs in a run with bit flips: far below the time limit of a run. */
const scrubIntervalMs = 20_000;

/** An agent that ended unexpectedly starts again within this time. */
const startAgainMsMax = 3_000;

/** The environment of a machine. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly medium: Medium;
  readonly scenario: MachineConduct;
  readonly story: Story;
  readonly shelf: JournalShelf;
  /** An agent put this content at this path of its folder. */
  placed(machine: Machine, path: string, content: Content): void;
  /** An agent is about to make a system call, `aheadMs` after the present. */
  between(machine: Machine, path: string, aheadMs: number): void;
  /** An agent changed or read something behind a link. */
  followed(machine: Machine, link: string): void;
  /** A file that a user renamed to its name just before was replaced unseen. */
  replacedUnseen(inode: Inode): void;
  /** An agent wrote to its journal. */
  journaled(machine: Machine, call: string, args: readonly unknown[]): void;
  /** An agent failed, or logged an unforeseen error. */
  failed(machine: Machine, what: string): void;
}

/** One member: a machine with disk, journal and clock, which outlive the agent, and the agent while it runs. */
export class Machine {
  readonly name: string;
  readonly id: MemberId;
  readonly address: string;
  readonly volume: Volume;
  readonly wall: WallClock;
  /** It fetches contents on demand. */
  readonly isOnDemand: boolean;
  engine: Engine | undefined;
  /** Its disk and journal are lost permanently. */
  isDestroyed = false;
  /** The number of reboots. */
  boots = 0;
  /** Values that it had before a set-back: an earlier acknowledgement of them was true. */
  readonly onceHeld = new Set<ValueKey>();
  readonly #journals: Journals;
  #snapshot: { readonly volume: DiskImage; readonly journal: string } | undefined;
  #bootedAtMs = 0;
  readonly #around: Surroundings;
  readonly #random: Random;
  #peers: readonly string[];
  #life: Life | undefined;
  #isStopping = false;
  #startsAgain = false;
  #whenDead = (): void => {};

  constructor(options: {
    name: string;
    offsetMs: number;
    /** Addresses in its configuration. */
    peers: readonly string[];
    around: Surroundings;
    random: Random;
    isOnDemand?: boolean;
  }) {
    this.isOnDemand = options.isOnDemand === true;
    this.name = options.name;
    this.#around = options.around;
    this.#random = options.random;
    this.#peers = options.peers;
    this.id = options.random.base32(52) as MemberId;
    this.address = addressOf(options.name);
    this.wall = new WallClock(options.around.scheduler, options.offsetMs);
    const { shelf, scenario } = options.around;
    const { keepsBirths, ordersNames } = scenario;
    this.volume = new Volume({ wallMs: () => this.wall.preciseMs(), keepsBirths, ordersNames });
    this.#journals = new Journals({
      memberId: this.id,
      random: this.#random,
      shelf,
      hasFiles: scenario.faults.setBack > 0,
      nowMs: () => Math.floor(this.wall.preciseMs()),
    });
  }

  /** The addresses at which its agent looks for others: those of its configuration and of the member list. */
  get knownAddresses(): readonly string[] {
    const listed = this.journal.members.all().filter(({ membership }) => membership === 'joined');
    return [...this.#peers, ...listed.flatMap(({ addresses }) => addresses)];
  }

  /** A person writes addresses into its configuration, and has its agent start again. */
  configure(addresses: readonly string[]): void {
    this.#peers = addresses.filter((address) => address !== this.address);
    this.#around.story.add(this.name, () => `gets the addresses ${this.#peers.join(', ')}`);
    this.stop();
  }

  /** Called when its agent begins to watch the folder. */
  watches = () => {};

  get journal(): Journal {
    return this.#journals.present;
  }

  get hasLostJournal(): boolean {
    return this.#journals.hasLost;
  }

  get hasSnapshot(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Copies disk and journal, whether the agent runs or not. */
  takeSnapshot(): void {
    const journal = this.#journals.copy();
    this.#snapshot = { volume: this.volume.image(), journal };
    this.#around.story.add(this.name, () => 'is copied');
  }

  /** Ends the agent, and restores the copy of the machine, or only of its journal. */
  setBack(what: 'all' | 'journal'): void {
    if (this.#snapshot === undefined) return;
    this.crash(true);
    if (what === 'all') this.volume.restore(this.#snapshot.volume);
    this.#journals.setBack(this.#snapshot.journal);
    this.#around.story.add(this.name, () => (what === 'all' ? 'is set back' : 'gets an old journal'));
  }

  get isRunning(): boolean {
    return this.#life?.alive === true;
  }

  /** Starts the agent, unless it runs. If it is stopping, it starts again afterwards. */
  start(): void {
    this.#startsAgain = this.#isStopping;
    if (this.isRunning || this.isDestroyed) return;
    const { scheduler, medium, scenario, story } = this.#around;
    const life = new Life(() => this.#diedInside());
    this.#life = life;
    const folder = this.#openFolder(life);
    if (folder === undefined) return;
    medium.up(this.id);
    const engine = createEngine({
      identity: {
        ...{ id: this.id, name: this.name, addresses: [this.address] },
        ...(this.isOnDemand && { onDemand: true as const }),
      },
      peers: this.#peers,
      journal: gateJournal(this.journal, life, {
        wrote: (call, args) => this.#around.journaled(this, call, args),
      }),
      folder,
      network: medium.open(this.id, this.address, life),
      clock: new SimClock({ scheduler, wall: this.wall, random: this.#random.fork(), life }),
      log: agentLog({ machine: this, life, story, failed: (what) => this.#around.failed(this, what) }),
      boot: { id: `${this.boots}`, beganMs: this.wall.preciseMs() - (scheduler.nowMs - this.#bootedAtMs) },
      transactionRows: scenario.transactionRows,
      settings: { cacheSize: { bytes: scenario.cacheBytes }, ...(scenario.rots && { scrubIntervalMs }) },
    });
    this.engine = engine;
    story.add(this.name, () => 'starts its agent');
    engine.start().then(
      () => {
        if (life.alive) story.add(this.name, () => 'is active');
      },
      (error: unknown) => {
        if (life.alive) this.#around.failed(this, `start failed: ${String(error)}`);
      },
    );
  }

  /** Ends the agent now, between two effects. `closesConnections`: as the kernel does for a killed process. */
  crash(closesConnections: boolean): void {
    if (!this.isRunning) return;
    this.#life?.end();
    this.#down(closesConnections, closesConnections ? 'agent is killed' : 'loses power');
  }

  /** True while no program runs again after a power cut. The times of files do not show the order of what happens within one step. */
  get isBooting(): boolean {
    return this.boots > 0 && this.#around.scheduler.nowMs - this.#bootedAtMs < fileTimeStepMs;
  }

  /** A power cut, which also ended the agent, and a reboot. Writes of users that no sync made durable may be lost. */
  powerCut(): readonly Torn[] {
    this.boots += 1;
    this.#bootedAtMs = this.#around.scheduler.nowMs;
    const { disk } = this.volume;
    // An agent publishes a file that it has not seen under this name, as GUARANTEES says: zeros in it would violate Atomic.
    const wasSeen = (inode: Inode): boolean =>
      [...disk.entries()].some(([path, at]) => {
        const row = this.journal.disk.at(path);
        if (at !== inode || row?.fingerprint === undefined || row.content !== inode.content?.id) return false;
        return sameFingerprint(row.fingerprint, fingerprintOf(inode));
      });
    return disk.cache.powerCut(this.#random, wasSeen);
  }

  /** Ends the agent between two of its next effects, and starts it again later. `died` is called in between, before anything else. */
  crashInside(afterEffects: number, died: () => void = () => {}): void {
    this.#whenDead = died;
    this.#life?.crashAfterEffects(afterEffects);
  }

  /** Stops the agent cleanly. */
  stop(): void {
    const { engine, name } = this;
    const life = this.#life;
    if (engine === undefined || life?.alive !== true || this.#isStopping) return;
    this.#isStopping = true;
    this.#startsAgain = false;
    this.#around.story.add(name, () => 'is stopped');
    engine.stop().then(
      () => {
        if (!life.alive) return;
        life.end();
        this.#down(true, 'has stopped');
        if (this.#startsAgain) this.start();
      },
      (error: unknown) => {
        if (life.alive) this.#around.failed(this, `stop failed: ${String(error)}`);
      },
    );
  }

  /** Loses the journal, but not the folder. */
  loseJournal(): void {
    this.crash(true);
    this.#journals.lose();
    this.#around.story.add(this.name, () => 'loses its journal');
  }

  /** Destroys the machine with everything on it. */
  destroy(): void {
    this.crash(false);
    this.isDestroyed = true;
    this.#around.story.add(this.name, () => 'is destroyed');
  }

  /** Closes the databases. */
  close(): void {
    this.#life?.end();
    this.#journals.close();
  }

  /** Undefined if it cannot be opened: the start fails, and is tried again later. */
  #openFolder(life: Life): Folder | undefined {
    const { scheduler, scenario, story } = this.#around;
    try {
      return openSimFolder({
        memberName: this.name,
        volume: this.volume,
        scheduler,
        random: this.#random.fork(),
        life,
        wall: this.wall,
        watch: scenario.watch,
        callMsMax: scenario.callMsMax,
        canSyncFileSystem: scenario.canSyncFileSystem,
        shown: this.journal.disk,
        witness: {
          record: (what) => story.add(this.name, what),
          placed: (path, content) => this.#around.placed(this, path, content),
          watches: () => this.watches(),
          between: (path, aheadMs) => this.#around.between(this, path, aheadMs),
          followed: (link) => this.#around.followed(this, link),
          replacedUnseen: (inode) => this.#around.replacedUnseen(inode),
        },
      });
    } catch (error) {
      if (error instanceof CrashedError) return undefined;
      if (!(error instanceof LockstepError || error instanceof DiskError)) throw error;
      story.add(this.name, () => `does not start its agent: ${error.message}`);
      life.end();
      scheduler.after(this.#random.between(1, startAgainMsMax), () => this.start());
      return undefined;
    }
  }

  #diedInside(): void {
    this.#down(true, 'agent crashes in the middle of its work');
    // The present task of the agent ends first, by an error.
    this.#around.scheduler.after(0, this.#whenDead);
    this.#around.scheduler.after(this.#random.between(1, startAgainMsMax), () => this.start());
  }

  #down(closesConnections: boolean, what: string): void {
    this.engine = undefined;
    this.#isStopping = false;
    this.#around.medium.down(this.id, this.address, closesConnections);
    this.#around.story.add(this.name, () => what);
  }
}

/** The address of the member with this name. */
export function addressOf(name: string): string {
  return `${name}.test:4701`;
}

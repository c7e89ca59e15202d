import { LockstepError, type MemberId } from '@lockstep/shared';
import { openJournal } from '../../store/journal.ts';
import { createEngine, type Engine } from '../../sync/engine.ts';
import type { Folder } from '../../sync/ports/folder.ts';
import type { Journal } from '../../sync/ports/journal.ts';
import type { Log } from '../../sync/ports/log.ts';
import { CrashedError, Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { SimClock, WallClock } from '../base/sim-clock.ts';
import type { Story } from '../base/story.ts';
import type { Content } from '../disk/content.ts';
import type { DiskImage } from '../disk/disk.ts';
import { DiskError } from '../disk/disk-error.ts';
import { fingerprintOf, type Inode, sameFingerprint } from '../disk/inode.ts';
import { Volume } from '../disk/volume.ts';
import type { Torn } from '../disk/write-cache.ts';
import { openSimFolder } from '../folder/sim-folder.ts';
import type { Medium } from '../network/sim-network.ts';
import type { ValueKey } from '../users/ledger.ts';
import { gateJournal } from './journal-gate.ts';
import type { JournalShelf } from './journal-shelf.ts';
import type { MachineConduct } from './scenario.ts';

/** Where bits flip, everything is read so often: long before a run gives up waiting. */
const scrubIntervalMs = 20_000;

/** An agent that ended by itself is started again within this time. */
const startAgainMsMax = 3_000;

/** What a machine needs of the world around it. */
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
  /** An agent did or read something behind a link. */
  followed(machine: Machine, link: string): void;
  /** A file that a user gave a name in the last moment was replaced unseen. */
  replacedUnseen(inode: Inode): void;
  /** An agent wrote to its journal. */
  journaled(machine: Machine, call: string, args: readonly unknown[]): void;
  /** An agent did what no agent may do: it failed, or said that something unforeseen happened to it. */
  failed(machine: Machine, what: string): void;
}

/** One member: a machine with its disk, journal and clock, which outlive the agent, and the agent while it runs. */
export class Machine {
  readonly name: string;
  readonly id: MemberId;
  readonly address: string;
  readonly volume: Volume;
  readonly wall: WallClock;
  journal: Journal;
  engine: Engine | undefined;
  /** Its disk and journal are gone for good. */
  isDestroyed = false;
  /** How often the machine has begun again. */
  boots = 0;
  /** What it had, and has no more since it was set back: it did not lie when it said that it holds that. */
  readonly onceHeld = new Set<ValueKey>();
  #journalPath = ':memory:';
  #snapshot: { readonly volume: DiskImage; readonly journalPath: string } | undefined;
  #bootedAtMs = 0;
  readonly #around: Surroundings;
  readonly #random: Random;
  readonly #peers: readonly string[];
  readonly #closed: Journal[] = [];
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
  }) {
    this.name = options.name;
    this.#around = options.around;
    this.#random = options.random;
    this.#peers = options.peers;
    this.id = options.random.base32(52) as MemberId;
    this.address = addressOf(options.name);
    this.wall = new WallClock(options.around.scheduler, options.offsetMs);
    const { keepsBirths, ordersNames } = options.around.scenario;
    this.volume = new Volume({ wallMs: () => this.wall.preciseMs(), keepsBirths, ordersNames });
    this.journal = this.#newJournal();
  }

  get hasLostJournal(): boolean {
    return this.#closed.length > 0;
  }

  get hasSnapshot(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Its disk and journal are copied, running or not. */
  takeSnapshot(): void {
    const journalPath = this.#around.shelf.copy(this.#journalPath);
    this.#snapshot = { volume: this.volume.image(), journalPath };
    this.#around.story.tell(this.name, () => 'is copied');
  }

  /** The agent ends, and the machine is as it was when it was copied; or only its journal is. */
  setBack(what: 'all' | 'journal'): void {
    if (this.#snapshot === undefined) return;
    this.crash(true);
    if (what === 'all') this.volume.restore(this.#snapshot.volume);
    this.#closed.push(this.journal);
    this.journal = this.#openJournal(this.#around.shelf.copy(this.#snapshot.journalPath));
    this.#around.story.tell(this.name, () => (what === 'all' ? 'is set back' : 'gets an old journal'));
  }

  get isRunning(): boolean {
    return this.#life?.alive === true;
  }

  /** Starts the agent, unless it runs; one that is stopping starts again afterwards. */
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
      identity: { id: this.id, name: this.name, addresses: [this.address] },
      peers: this.#peers,
      journal: gateJournal(this.journal, life, {
        wrote: (call, args) => this.#around.journaled(this, call, args),
      }),
      folder,
      network: medium.open(this.id, this.address, life),
      clock: new SimClock({ scheduler, wall: this.wall, random: this.#random.fork(), life }),
      log: this.#log(life),
      boot: { id: `${this.boots}`, beganMs: this.wall.preciseMs() - (scheduler.nowMs - this.#bootedAtMs) },
      scrubIntervalMs: scenario.rots ? scrubIntervalMs : undefined,
    });
    this.engine = engine;
    story.tell(this.name, () => 'starts its agent');
    engine.start().then(
      () => {
        if (life.alive) story.tell(this.name, () => 'is active');
      },
      (error: unknown) => {
        if (life.alive) this.#around.failed(this, `start failed: ${String(error)}`);
      },
    );
  }

  /** The agent ends between two of its effects, now. `told`: its connections are closed by the kernel. */
  crash(told: boolean): void {
    if (!this.isRunning) return;
    this.#life?.end();
    this.#down(told, told ? 'agent is killed' : 'loses power');
  }

  /** The machine loses power, which ended its agent, and begins again: what its users wrote and no sync has made durable is lost, or not. */
  powerCut(): readonly Torn[] {
    this.boots += 1;
    this.#bootedAtMs = this.#around.scheduler.nowMs;
    const { disk } = this.volume;
    // An agent takes a file that it has not seen at its name for a new one, as GUARANTEES says: that is not zeros, which nobody wrote.
    const wasSeen = (inode: Inode): boolean =>
      [...disk.entries()].some(([path, at]) => {
        const row = this.journal.disk(path);
        if (at !== inode || row?.fingerprint === undefined || row.content !== inode.content?.id) return false;
        return sameFingerprint(row.fingerprint, fingerprintOf(inode));
      });
    return disk.cache.powerCut(this.#random, wasSeen);
  }

  /** The agent will end between two of its next effects, and start again later. `died` is called then, before anything else happens. */
  crashInside(afterEffects: number, died: () => void = () => {}): void {
    this.#whenDead = died;
    this.#life?.crashAfterEffects(afterEffects);
  }

  /** Stops the agent as a person would. */
  stop(): void {
    const { engine, name } = this;
    const life = this.#life;
    if (engine === undefined || life?.alive !== true || this.#isStopping) return;
    this.#isStopping = true;
    this.#startsAgain = false;
    this.#around.story.tell(name, () => 'is stopped');
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

  /** The journal is lost, the folder is not. */
  loseJournal(): void {
    this.crash(true);
    this.#closed.push(this.journal);
    this.journal = this.#newJournal();
    this.#around.story.tell(this.name, () => 'loses its journal');
  }

  /** The machine is gone with everything on it. */
  destroy(): void {
    this.crash(false);
    this.isDestroyed = true;
    this.#around.story.tell(this.name, () => 'is destroyed');
  }

  /** Frees the databases. */
  close(): void {
    this.#life?.end();
    for (const journal of [this.journal, ...this.#closed]) journal.close();
  }

  /** Undefined where it cannot be opened: the agent does not start, and whoever starts agents tries again. */
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
        witness: {
          tell: (what) => story.tell(this.name, what),
          placed: (path, content) => this.#around.placed(this, path, content),
          between: (path, aheadMs) => this.#around.between(this, path, aheadMs),
          followed: (link) => this.#around.followed(this, link),
          replacedUnseen: (inode) => this.#around.replacedUnseen(inode),
        },
      });
    } catch (error) {
      if (error instanceof CrashedError) return undefined;
      if (!(error instanceof LockstepError || error instanceof DiskError)) throw error;
      story.tell(this.name, () => `does not start its agent: ${error.message}`);
      life.end();
      scheduler.after(this.#random.between(1, startAgainMsMax), () => this.start());
      return undefined;
    }
  }

  #diedInside(): void {
    this.#down(true, 'agent crashes in the middle of its work');
    // What it was doing is left by a throw first.
    this.#around.scheduler.after(0, this.#whenDead);
    this.#around.scheduler.after(this.#random.between(1, startAgainMsMax), () => this.start());
  }

  #down(told: boolean, what: string): void {
    this.engine = undefined;
    this.#isStopping = false;
    this.#around.medium.down(this.id, this.address, told);
    this.#around.story.tell(this.name, () => what);
  }

  #newJournal(): Journal {
    const { scenario, shelf } = this.#around;
    return this.#openJournal(scenario.faults.setBack > 0 ? shelf.next() : ':memory:');
  }

  #openJournal(path: string): Journal {
    this.#journalPath = path;
    const random = this.#random.fork();
    return openJournal({
      path,
      memberId: this.id,
      random: () => random.unit(),
      nowMs: () => Math.floor(this.wall.preciseMs()),
    });
  }

  /** Where calls fail it is right to say so. */
  #isExpected(fields: object): boolean {
    const { failures } = this.volume;
    return failures !== undefined && JSON.stringify(fields).includes(`DiskError: ${failures.code}`);
  }

  #log(life: Life): Log {
    const tell = (fields: object, message: string) => {
      if (life.alive) this.#around.story.tell(this.name, () => `  log: ${message} ${JSON.stringify(fields)}`);
    };
    return {
      debug: tell,
      info: tell,
      warn: tell,
      error: (fields, message) => {
        tell(fields, message);
        if (life.alive && !this.#isExpected(fields)) this.#around.failed(this, `${message} ${JSON.stringify(fields)}`);
      },
    };
  }
}

/** Where the member of this name listens. */
export function addressOf(name: string): string {
  return `${name}.test:4701`;
}

import type { Operation } from '@lockstep/shared';
import type { DiskChange } from '../../core/entry.ts';
import { decodeMessage, encodeMessage } from '../../net/messages/codec.ts';
import type { Habit } from '../base/habit.ts';
import type { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { Story } from '../base/story.ts';
import type { Rule, Violation } from '../base/violation.ts';
import type { Content } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';
import { freezeMessage, Medium } from '../network/sim-network.ts';
import { Agenda } from '../users/agenda.ts';
import { Ledger, type Value, valueAt } from '../users/ledger.ts';
import { Meddler } from '../users/meddler.ts';
import { User } from '../users/user.ts';
import { UserShell } from '../users/user-shell.ts';
import { copiesPerson } from './copies-person.ts';
import { DropWatch } from './drop-watch.ts';
import { JournalShelf } from './journal-shelf.ts';
import { addressOf, Machine, type Surroundings } from './machine.ts';
import { NumberWatch } from './number-watch.ts';
import { reader } from './reader.ts';
import type { Scenario } from './scenario.ts';
import { isOverAmong, valuesAmong } from './values.ts';

const names = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', 'hen', 'ibis', 'jay'];

/** Interval of checks of holders: shorter than the detection of a fork. */
const countedEveryMs = 25;

/** The probability of a change by a user before a system call of an agent, while any are left. */
const meddleChance = 0.01;

/** More operations than a run makes at one path. */
const logMax = 10_000;

/** Calls that change the log of a journal. */
const callsOnLog: ReadonlySet<string> = new Set(['append', 'seal', 'renewOrigin']);

/** Counters for the rules Converge and Quiet. */
export interface Tally {
  messages: number;
  journalWrites: number;
  entriesPlaced: number;
}

/** All members, their users, and the network. */
export class World implements Surroundings {
  readonly scheduler: Scheduler;
  readonly medium: Medium;
  readonly scenario: Scenario;
  readonly story: Story;
  readonly ledger = new Ledger();
  readonly shelf = new JournalShelf();
  readonly machines: Machine[] = [];
  readonly tally: Tally = { messages: 0, journalWrites: 0, entriesPlaced: 0 };
  readonly #random: Random;
  readonly #users: User[] = [];
  readonly #persons: Habit[] = [];
  /** The users that act between two system calls of a machine's agent. */
  readonly #actors = new Map<Machine, { readonly agenda: Agenda; readonly meddler: Meddler }>();
  readonly #numbers = new NumberWatch();
  readonly #drops = new DropWatch({
    ledger: this.ledger,
    remaining: () => this.remaining,
    violate: (rule, reason) => this.violate(rule, reason),
  });
  #violation: Violation | undefined;
  #meddlesLeft: number;
  /** Describes the last journal write, for a violation of Quiet. */
  lastJournalWrite = () => 'none';

  constructor(scenario: Scenario, random: Random, options: { readonly keepsStory: boolean }) {
    this.scenario = scenario;
    this.#meddlesLeft = scenario.meddlesMax;
    this.#random = random;
    this.scheduler = new Scheduler(random.fork());
    this.story = new Story(options.keepsStory, () => this.scheduler.nowMs);
    this.medium = new Medium({
      scheduler: this.scheduler,
      random: random.fork(),
      conduct: () => scenario.network,
      carrier: scenario.isEncoded
        ? (message) => decodeMessage(encodeMessage(message).map((frame) => Buffer.from(frame)))
        : freezeMessage,
      observed: (from, to, message) => {
        if (message.type === 'heartbeat' || message.type === 'pulse') return;
        this.tally.messages += 1;
        const machine = this.#machineOf(to);
        if (message.type === 'want' && machine !== undefined) this.#drops.asked(machine, message);
        this.story.add(this.#nameOf(to), () => `  got ${describe(message)} from ${this.#nameOf(from)}`);
      },
    });
    for (let i = 0; i < scenario.members; i++) this.#addFounder(i);
    if (scenario.faults.setBack > 0) this.#watchNumbers();
    if (scenario.setsCopies) {
      const around = { scheduler: this.scheduler, random: this.#random.fork() };
      this.#persons.push(copiesPerson(() => this.remaining, around));
    }
  }

  /** The first violation of a rule. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  /** Members that are not destroyed. */
  get remaining(): readonly Machine[] {
    return this.machines.filter(({ isDestroyed }) => !isDestroyed);
  }

  violate(rule: Rule, reason: string): void {
    this.story.add('', () => `VIOLATION of ${rule}: ${reason}`);
    this.#violation ??= { rule, reason };
  }

  /** Adds a member, with an empty folder or with its own files. */
  addNewcomer(): void {
    if (this.machines.length === names.length) return;
    const peers = this.remaining.map(({ address }) => address);
    const machine = this.#add(names[this.machines.length] ?? 'new', peers, this.#random.between(-20, 20));
    if (this.#random.chance(0.5)) this.#fill(machine);
    machine.start();
  }

  /** Stops all users; pending actions are finished. */
  stopUsers(): void {
    this.#meddlesLeft = 0;
    for (const user of [...this.#users, ...this.#persons]) user.stop();
  }

  /** A machine, a journal or unsynced data was lost: operations may have content that no machine has. */
  get mayLackContent(): boolean {
    return this.machines.some(({ isDestroyed, hasLostJournal, boots }) => isDestroyed || hasLostJournal || boots > 0);
  }

  /** True for a value that another member replaced by its number alone, which it knew from an undone branch: GUARANTEES says when. */
  wasReplacedUnseen({ key, path }: Value): boolean {
    return this.remaining.some(({ journal }) => {
      const log = journal.log
        .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: logMax })
        .map((row) => row.operation);
      const ofValue = log.filter(({ content, target }) => key === (target === undefined ? content : `link:${target}`));
      const seals = journal.seals.all();
      return ofValue.some((operation) => {
        const seal = seals[operation.origin];
        return log.some((newer) => this.#numbers.supersedesUnseen(newer, operation, seal));
      });
    });
  }

  /** Releases values that no machine has any more. */
  releaseLost(how: string): void {
    const left = valuesAmong(this.remaining);
    // One that its user brought back may be known to be deleted, and stand only where that is still to be learnt.
    const stays = valuesAmong(this.remaining, isOverAmong(this.remaining));
    for (const { key, timesReleased } of this.ledger.owed()) {
      if (!(timesReleased > 0 ? stays : left).has(key)) this.ledger.release(key, 'accident', how);
    }
  }

  close(): void {
    for (const machine of this.machines) machine.close();
    this.shelf.clear();
  }

  placed(machine: Machine, path: string, content: Content): void {
    this.tally.entriesPlaced += 1;
    this.story.add(machine.name, () => `  puts ${this.ledger.nameOf(content.id)} at ${path}`);
    if (!this.ledger.isWritten(content)) {
      this.violate('Atomic', `${machine.name} put content at ${path} that no user wrote: ${content.id}`);
    }
  }

  between(machine: Machine, path: string, aheadMs: number): void {
    const actors = this.#actors.get(machine);
    if (actors === undefined || actors.agenda.doNext(aheadMs)) return;
    if (this.#meddlesLeft === 0 || path === '' || path.startsWith('/') || !mayWork(machine)) return;
    if (!this.#random.chance(meddleChance)) return;
    this.#meddlesLeft -= 1;
    actors.meddler.meddle(path);
  }

  followed(machine: Machine, link: string): void {
    this.violate('Confined', `${machine.name} went through the link ${link}`);
  }

  replacedUnseen(inode: Inode): void {
    this.ledger.release(valueAt(inode), 'accident', 'renamed onto a name at the moment of its replacement');
  }

  journaled(machine: Machine, call: string, args: readonly unknown[]): void {
    // The position of the scrub is saved at intervals, even on an idle member.
    if (call === 'settings.set' && args[0] === 'scrub') return;
    this.tally.journalWrites += 1;
    if (call === 'disk.record') {
      this.#checkRows(machine, args[0] as readonly DiskChange[]);
      this.#drops.recorded(machine, args[0] as readonly DiskChange[]);
    }
    if (callsOnLog.has(call)) this.#numbers.changed(machine);
    if (call === 'append') {
      const reused = this.#numbers.appended(machine, args[0] as readonly Operation[]);
      if (reused !== undefined) this.violate('Sound', reused);
    }
    this.lastJournalWrite = () => `${machine.name} ${call} ${JSON.stringify(args).slice(0, 300)}`;
  }

  failed(machine: Machine, what: string): void {
    this.violate('Sound', `${machine.name}: ${what}`);
  }

  /** A row of `disk` must not assign a content to an inode that never had it: other members would take it for a user's edit. */
  #checkRows(machine: Machine, rows: readonly DiskChange[]): void {
    for (const { path, entry } of rows) {
      const inode = machine.volume.disk.at(path);
      const { content, fingerprint } = entry ?? {};
      if (inode?.birthMs === undefined || content === undefined || fingerprint === undefined) continue;
      if (inode.number !== fingerprint.ino || inode.birthMs !== fingerprint.birthMs || inode.held.has(content))
        continue;
      this.violate('Sound', `${machine.name} journaled ${this.ledger.nameOf(content)} at ${path}, which never had it`);
    }
  }

  #watchNumbers(): void {
    const wrong = this.#numbers.counted(this.remaining);
    if (wrong !== undefined) this.violate('Durable', wrong);
    this.scheduler.after(countedEveryMs, () => this.#watchNumbers());
  }

  #addFounder(index: number): void {
    const { scenario } = this;
    const all = names.slice(0, scenario.members);
    const others = scenario.knowsAll ? all : [all[(index + 1) % all.length] ?? ''];
    const peers = others.map(addressOf).filter((_, i) => others[i] !== all[index]);
    const isOnDemand = index >= all.length - scenario.onDemand;
    const machine = this.#add(all[index] ?? '', peers, scenario.clockOffsetsMs[index] ?? 0, isOnDemand);
    if (index < scenario.filledAtStart) this.#fill(machine);
    this.scheduler.after(this.#random.between(0, 500), () => machine.start());
  }

  #add(name: string, peers: readonly string[], offsetMs: number, isOnDemand = false): Machine {
    const machine = new Machine({ name, offsetMs, peers, around: this, random: this.#random.fork(), isOnDemand });
    this.machines.push(machine);
    if (isOnDemand && this.scenario.reads)
      this.#persons.push(reader(machine, { scheduler: this.scheduler, random: this.#random.fork() }));
    const agenda = new Agenda(this.scheduler);
    const shell = new UserShell({ name, disk: machine.volume.disk, ledger: this.ledger, story: this.story });
    const user = new User({
      shell,
      agenda,
      random: this.#random.fork(),
      pauseMsMax: this.scenario.pauseMsMax,
      keepsImages: this.scenario.keepsImages,
      mapsFiles: this.scenario.mapsFiles,
      hasLargeFiles: this.scenario.hasLargeFiles,
      mayWork: () => mayWork(machine),
    });
    this.#users.push(user);
    this.#actors.set(machine, { agenda, meddler: new Meddler(shell, this.#random.fork()) });
    user.start();
    return machine;
  }

  /** Fills a folder that was in use before Lockstep. */
  #fill(machine: Machine): void {
    const user = this.#users[this.machines.indexOf(machine)];
    for (let i = 0; i < 6; i++) user?.act(this.#random.pick(['create', 'create', 'makeTree', 'symlink']));
  }

  #machineOf(member: string): Machine | undefined {
    return this.machines.find(({ id }) => id === member);
  }

  #nameOf(member: string): string {
    return this.#machineOf(member)?.name ?? member.slice(0, 8);
  }
}

/** A user waits while the folder, or a part of it, is hidden or unmounted, and while the machine boots. */
export function mayWork({ volume, isDestroyed, isBooting }: Machine): boolean {
  return !volume.missing && !volume.isHidden && !isDestroyed && !isBooting;
}

function describe(message: Parameters<typeof freezeMessage>[0]): string {
  if (message.type !== 'operations') return message.type;
  const operations = message.carried.map(
    ({ operation: { kind, path, seq, origin } }) => `${kind} ${path} (${origin.slice(0, 4)}:${seq})`,
  );
  return `operations ${operations.join(', ')}`;
}

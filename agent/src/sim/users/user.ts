import { blockBytes, joinPath, nameOf, parentOf } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import { contentOfText, virtualContent } from '../disk/content.ts';
import { DiskError } from '../disk/disk-error.ts';
import type { Inode } from '../disk/inode.ts';
import type { Agenda } from './agenda.ts';
import { Choices, passingDirectory } from './choices.ts';
import { type Habit, habitsOf } from './habits.ts';
import { UnseenChanges } from './unseen-changes.ts';
import type { UserShell } from './user-shell.ts';

/** A user of one member's folder, whether its agent runs or not. */
export class User {
  readonly #shell: UserShell;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #choices: Choices;
  readonly #unseen: UnseenChanges;
  readonly #pauseMsMax: number;
  readonly #mayWork: () => boolean;
  readonly #weights: Readonly<Record<Habit, number>>;
  /** The user's files in `passingDirectory` that are not deleted yet. */
  readonly #passing: string[] = [];
  #working = true;

  readonly #habits: Readonly<Record<Habit, () => void>> = {
    create: () => this.#create(this.#choices.newPath()),
    overwrite: () => this.#choices.withFile((path) => this.#save(path)),
    overwriteTwice: () => this.#choices.withFile((path) => this.#unseen.overwriteTwice(path)),
    append: () => this.#choices.withFile((path) => this.#append(path)),
    appendOften: () => this.#choices.withFile((path) => this.#appendOften(path, 3 + this.#random.below(8))),
    atomicSave: () => this.#choices.withFile((path) => this.#atomicSave(path)),
    remove: () => this.#choices.withAny(['file', 'symlink'], (path) => this.#shell.remove(path)),
    recreate: () => this.#choices.withFile((path) => this.#recreate(path)),
    replaceAlike: () => this.#unseen.replaceAlike(),
    changePages: () => this.#changePages(),
    renameFile: () =>
      this.#choices.withAny(['file', 'symlink'], (path) => this.#shell.rename(path, this.#choices.newPath())),
    renameOver: () => this.#choices.withFile((from) => this.#choices.withFile((to) => this.#shell.rename(from, to))),
    renameCase: () => this.#choices.withAny(['file', 'directory'], (path) => this.#renameCase(path)),
    swap: () => this.#choices.withFile((one) => this.#choices.withFile((other) => this.#swap(one, other))),
    renameDirectory: () => this.#choices.withAny(['directory'], (path) => this.#renameDirectory(path)),
    copy: () => this.#choices.withFile((path) => this.#shell.copy(path, this.#choices.newPath())),
    makeTree: () => this.#makeTree(1 + this.#random.below(3)),
    unpack: () => this.#makeTree(10 + this.#random.below(20)),
    removeTree: () => this.#choices.withAny(['directory'], (path) => this.#shell.removeTree(path)),
    fileToDirectory: () => this.#choices.withFile((path) => this.#fileToDirectory(path)),
    directoryToFile: () => this.#choices.withAny(['directory'], (path) => this.#directoryToFile(path)),
    chmod: () => this.#choices.withAny(['file', 'directory'], (path, inode) => this.#chmod(path, inode)),
    touch: () => this.#choices.withFile((path, inode) => this.#shell.touch(path, this.#choices.fileTime(inode))),
    symlink: () => this.#symlink(this.#choices.newPath()),
    moveOutAndIn: () => this.#choices.withAny(['directory', 'file'], (path) => this.#moveOutAndIn(path)),
    storeMapped: () => this.#choices.withFile((path) => this.#unseen.storeMapped(path)),
    writeElsewhere: () => this.#choices.withFile((path) => this.#unseen.changeUnseen(path, 'other name')),
    pass: () => this.#pass(),
    pipe: () => this.#shell.mkfifo(joinPath(this.#choices.directory(), `pipe-${this.#shell.ledger.nextName()}`)),
  };

  constructor(options: {
    shell: UserShell;
    agenda: Agenda;
    random: Random;
    pauseMsMax: number;
    keepsImages: boolean;
    mapsFiles: boolean;
    hasLargeFiles: boolean;
    mayWork: () => boolean;
  }) {
    this.#shell = options.shell;
    this.#agenda = options.agenda;
    this.#random = options.random;
    this.#pauseMsMax = options.pauseMsMax;
    this.#mayWork = options.mayWork;
    this.#choices = new Choices(options.shell, options.random, options.hasLargeFiles);
    const soon = (delayMsMax: number, body: () => void): void => this.#soon(delayMsMax, body);
    this.#unseen = new UnseenChanges({ ...options, choices: this.#choices, soon });
    this.#weights = habitsOf(options);
  }

  /** Acts until `stop`. */
  start(): void {
    this.#agenda.after(this.#random.unit() ** 3 * this.#pauseMsMax, () => {
      if (!this.#working) return;
      this.act(this.#random.weighted(this.#weights));
      this.start();
    });
  }

  /** Starts no new action; pending ones are finished. */
  stop(): void {
    this.#working = false;
  }

  /** Performs one action, if the folder has an entry for it. */
  act(habit: Habit): void {
    this.#attempt(this.#habits[habit]);
  }

  #create(path: string): void {
    if (this.#shell.disk.at(path) !== undefined || this.#random.chance(0.8)) {
      this.#save(path);
      return;
    }
    // Many programs create the file first and fill it a moment later.
    this.#shell.write(path, 'empty', contentOfText(''));
    this.#soon(20, () => this.#save(path));
  }

  /** Writes a new value, at once or in two steps. */
  #save(path: string): void {
    const [name, content] = this.#choices.newValue(path);
    if (content.parts.length > 1 || this.#random.chance(0.85)) {
      this.#shell.write(path, name, content);
      return;
    }
    const half = this.#shell.ledger.nextName();
    this.#shell.write(path, half, contentOfText(`${half} is the first half of ${name}`));
    this.#soon(15, () => this.#shell.write(path, name, content));
  }

  #append(path: string): void {
    const before = this.#shell.disk.at(path)?.content;
    if (before !== undefined) this.#shell.write(path, ...this.#choices.appendedValue(before));
  }

  #appendOften(path: string, times: number): void {
    this.#append(path);
    if (times > 1) this.#soon(30, () => this.#appendOften(path, times - 1));
  }

  #atomicSave(path: string): void {
    const temporary = joinPath(parentOf(path), `.${nameOf(path)}.tmp`);
    const [name, content] = this.#choices.newValue(path);
    this.#shell.write(temporary, name, content);
    this.#maybeSoon(0.3, 10, () => this.#shell.rename(temporary, path));
  }

  #recreate(path: string): void {
    const inode = this.#shell.disk.at(path);
    const content = inode?.content;
    if (content === undefined) return;
    const name = this.#shell.ledger.nameOf(content.id);
    this.#shell.remove(path);
    this.#maybeSoon(0.7, 60, () => {
      if (this.#shell.disk.at(path) === undefined) this.#shell.write(path, name, content);
    });
  }

  /** A database writes another first page in each block of its file: all other bytes are those of the version before. */
  #changePages(): void {
    const large = [...this.#shell.disk.entries()].filter(([, { content }]) => (content?.size ?? 0) > 4 * blockBytes);
    const name = this.#shell.ledger.nextName();
    if (large.length > 0) {
      const [path, { content }] = this.#random.pick(large);
      this.#shell.write(path, name, virtualContent(name, content?.size ?? 0));
      return;
    }
    const path = this.#choices.newPath();
    if (this.#shell.disk.at(path) !== undefined) return;
    this.#shell.write(path, name, virtualContent(name, 5 * blockBytes));
    this.#soon(400, () => this.#changePages());
  }

  #renameCase(path: string): void {
    const name = nameOf(path);
    const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
    const target = joinPath(parentOf(path), other);
    if (other !== name && this.#shell.disk.at(target) === undefined) this.#shell.rename(path, target);
  }

  #swap(one: string, other: string): void {
    if (one === other) return;
    const aside = joinPath(parentOf(one), '.swap');
    this.#shell.rename(one, aside);
    this.#shell.rename(other, one);
    this.#maybeSoon(0.3, 10, () => this.#shell.rename(aside, other));
  }

  #renameDirectory(path: string): void {
    const target = this.#choices.newPath();
    const existing = this.#shell.disk.at(target);
    if (existing !== undefined) return;
    this.#shell.rename(path, target);
    // The user continues to work in the renamed directory.
    this.#maybeSoon(0.3, 20, () => this.#create(joinPath(target, this.#choices.name())));
  }

  #makeTree(files: number): void {
    const top = this.#choices.newPath();
    const directories = [top, joinPath(top, this.#choices.name()), joinPath(top, 'deep/er')];
    for (let i = 0; i < files; i++) {
      const directory = this.#random.pick(directories);
      if (this.#shell.makeDirectories(directory)) this.#attempt(() => this.#create(joinPath(directory, `f${i}`)));
    }
  }

  #fileToDirectory(path: string): void {
    this.#shell.remove(path);
    this.#maybeSoon(0.3, 10, () => {
      if (this.#shell.makeDirectories(path)) this.#create(joinPath(path, this.#choices.name()));
    });
  }

  #directoryToFile(path: string): void {
    this.#shell.removeTree(path);
    this.#maybeSoon(0.3, 10, () => this.#create(path));
  }

  #chmod(path: string, inode: Inode): void {
    const modes = inode.type === 'directory' ? [0o755, 0o700, 0o775, 0o555] : [0o644, 0o600, 0o755, 0o444];
    this.#shell.chmod(path, this.#random.pick(modes));
  }

  #pass(): void {
    if (this.#random.chance(0.5) && this.#passing.length > 0) {
      const [path = ''] = this.#passing.splice(this.#random.below(this.#passing.length), 1);
      if (this.#shell.disk.at(path) !== undefined) this.#shell.removeForGood(path);
    } else if (this.#shell.makeDirectories(passingDirectory)) {
      const name = this.#shell.ledger.nextName();
      const path = joinPath(passingDirectory, name);
      this.#shell.write(path, name, contentOfText(name.padEnd(16)));
      this.#passing.push(path);
    }
  }

  #symlink(path: string): void {
    const existing = this.#shell.disk.at(path);
    if (existing?.type === 'directory') return;
    if (existing !== undefined) this.#shell.remove(path);
    const name = this.#shell.ledger.nextName();
    this.#shell.symlink(path, name, `${this.#random.pick(['../../', '/', 'a/'])}${name}`);
  }

  #moveOutAndIn(path: string): void {
    const outside = this.#shell.moveOut(path);
    this.#soon(500, () => {
      const target = this.#random.chance(0.5) ? path : this.#choices.newPath();
      if (this.#shell.disk.at(target) === undefined) this.#shell.moveIn(target, outside);
    });
  }

  #maybeSoon(chance: number, delayMsMax: number, body: () => void): void {
    if (this.#random.chance(chance)) this.#soon(delayMsMax, body);
    else body();
  }

  #soon(delayMsMax: number, body: () => void): void {
    const { cache } = this.#shell.disk;
    const { cuts } = cache;
    this.#agenda.after(this.#random.between(0, delayMsMax), () => {
      // A power cut ends the program.
      if (cache.cuts === cuts) this.#attempt(body);
    });
  }

  /** The folder may have changed meanwhile: then the system call fails, and the user ignores that. */
  #attempt(body: () => void): void {
    if (!this.#mayWork()) return;
    try {
      body();
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
    }
  }
}

import {
  blockBytes,
  fileTimeUsMax,
  fileTimeUsMin,
  inlineBytesMax,
  isBelow,
  joinPath,
  nameOf,
  parentOf,
} from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import { type Content, contentOfText, virtualContent, withNewTail } from '../disk/content.ts';
import { DiskError } from '../disk/disk-error.ts';
import type { Inode, InodeType } from '../disk/inode.ts';
import type { Agenda } from './agenda.ts';
import { type Habit, habitsOf } from './habits.ts';
import type { UserShell } from './user-shell.ts';

/** Few names, so that members use the same paths. */
const names = ['a', 'b', 'c', 'Doc.txt', 'notes.tar.gz', '-x y%'];
const depthMax = 3;
/** Each user only creates and deletes their own files here: no other user wants a file that is deleted here. */
const passingDirectory = 'passing';

/** File times at the limits of programs and messages, in milliseconds: seconds given as milliseconds, before 1970, fractions. */
const extremeTimesMs = [
  1_763_730_000_000_000,
  -1,
  -86_400_000.5,
  0,
  fileTimeUsMax / 1_000,
  fileTimeUsMin / 1_000 - 1,
  8.64e15,
];

/** So many times larger is a file of several blocks that is fetched from several members. */
const timesLarger = 9;

/** A user of one member's folder, whether its agent runs or not. */
export class User {
  readonly #shell: UserShell;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #hasLargeFiles: boolean;
  readonly #pauseMsMax: number;
  readonly #mayWork: () => boolean;
  readonly #weights: Readonly<Record<Habit, number>>;
  /** The user's files in `passingDirectory` that are not deleted yet. */
  readonly #passing: string[] = [];
  #working = true;

  readonly #habits: Readonly<Record<Habit, () => void>> = {
    create: () => this.#create(this.#newPath()),
    overwrite: () => this.#withFile((path) => this.#save(path)),
    overwriteTwice: () => this.#withFile((path) => this.#overwriteTwice(path)),
    append: () => this.#withFile((path) => this.#append(path)),
    appendOften: () => this.#withFile((path) => this.#appendOften(path, 3 + this.#random.below(8))),
    atomicSave: () => this.#withFile((path) => this.#atomicSave(path)),
    remove: () => this.#withAny(['file', 'symlink'], (path) => this.#shell.remove(path)),
    recreate: () => this.#withFile((path) => this.#recreate(path)),
    replaceAlike: () => this.#replaceAlike(),
    changePages: () => this.#changePages(),
    renameFile: () => this.#withAny(['file', 'symlink'], (path) => this.#shell.rename(path, this.#newPath())),
    renameOver: () => this.#withFile((from) => this.#withFile((to) => this.#shell.rename(from, to))),
    renameCase: () => this.#withAny(['file', 'directory'], (path) => this.#renameCase(path)),
    swap: () => this.#withFile((one) => this.#withFile((other) => this.#swap(one, other))),
    renameDirectory: () => this.#withAny(['directory'], (path) => this.#renameDirectory(path)),
    copy: () => this.#withFile((path) => this.#shell.copy(path, this.#newPath())),
    makeTree: () => this.#makeTree(1 + this.#random.below(3)),
    unpack: () => this.#makeTree(10 + this.#random.below(20)),
    removeTree: () => this.#withAny(['directory'], (path) => this.#shell.removeTree(path)),
    fileToDirectory: () => this.#withFile((path) => this.#fileToDirectory(path)),
    directoryToFile: () => this.#withAny(['directory'], (path) => this.#directoryToFile(path)),
    chmod: () => this.#withAny(['file', 'directory'], (path, inode) => this.#chmod(path, inode)),
    touch: () => this.#withFile((path, inode) => this.#shell.touch(path, this.#fileTime(inode))),
    symlink: () => this.#symlink(this.#newPath()),
    moveOutAndIn: () => this.#withAny(['directory', 'file'], (path) => this.#moveOutAndIn(path)),
    storeMapped: () => this.#withFile((path) => this.#storeMapped(path)),
    writeElsewhere: () => this.#withFile((path) => this.#changeUnseen(path, 'other name')),
    pass: () => this.#pass(),
    pipe: () => this.#shell.mkfifo(joinPath(this.#directory(), `pipe-${this.#shell.ledger.nextName()}`)),
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
    this.#hasLargeFiles = options.hasLargeFiles;
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
    const [name, content] = this.#newValue(path);
    if (content.parts.length > 1 || this.#random.chance(0.85)) {
      this.#shell.write(path, name, content);
      return;
    }
    const half = this.#shell.ledger.nextName();
    this.#shell.write(path, half, contentOfText(`${half} is the first half of ${name}`));
    this.#soon(15, () => this.#shell.write(path, name, content));
  }

  /** Writes two values of one size within a moment: perhaps within one step of the file times. */
  #overwriteTwice(path: string): void {
    const write = () => {
      const name = this.#shell.ledger.nextName();
      this.#shell.write(path, name, contentOfText(name.padEnd(16)));
    };
    write();
    this.#soon(6, write);
  }

  #append(path: string): void {
    const before = this.#shell.disk.at(path)?.content;
    if (before === undefined) return;
    const name = this.#shell.ledger.nextName();
    if (before.size > inlineBytesMax) {
      const size = before.size + this.#random.below(blockBytes);
      this.#shell.write(path, name, withNewTail(before, name, size));
      return;
    }
    const text = new TextDecoder().decode(before.parts[0]).slice(-200);
    this.#shell.write(path, name, contentOfText(`${text}\n${name}`));
  }

  #appendOften(path: string, times: number): void {
    this.#append(path);
    if (times > 1) this.#soon(30, () => this.#appendOften(path, times - 1));
  }

  #atomicSave(path: string): void {
    const temporary = joinPath(parentOf(path), `.${nameOf(path)}.tmp`);
    const [name, content] = this.#newValue(path);
    this.#shell.write(temporary, name, content);
    this.#maybeSoon(0.3, 10, () => this.#shell.rename(temporary, path));
  }

  /** Some stores into one page. Those that find it dirty leave no trace. */
  #storeMapped(path: string): void {
    this.#changeUnseen(path, 'mapping');
    for (let more = this.#random.below(4); more > 0; more--) {
      this.#soon(this.#random.pick([5, 100, 1_000]), () => this.#changeUnseen(path, 'mapping'));
    }
  }

  /** Stores another value of the same size, if the file is small. */
  #changeUnseen(path: string, by: 'mapping' | 'other name'): void {
    const size = this.#shell.disk.at(path)?.content?.size ?? 0;
    const name = this.#shell.ledger.nextName();
    if (size < name.length || size > inlineBytesMax) return;
    this.#shell.changeUnseen(path, name, contentOfText(name.padEnd(size)), by);
  }

  #fileTime({ mtimeMs }: Inode): number {
    if (this.#random.chance(0.3)) return this.#random.pick(extremeTimesMs);
    return mtimeMs - 1_000 * this.#random.below(90_000);
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
    const path = this.#newPath();
    if (this.#shell.disk.at(path) !== undefined) return;
    this.#shell.write(path, name, virtualContent(name, 5 * blockBytes));
    this.#soon(400, () => this.#changePages());
  }

  /** `rm image-1; cp -p image-2`: another file of equal size and time, with the inode number of the removed one. */
  #replaceAlike(): void {
    const size = 3 * blockBytes;
    const images = [...this.#shell.disk.entries()].filter(([, { content }]) => content?.size === size);
    const target = this.#newPath();
    if (this.#shell.disk.at(target) !== undefined) return;
    const name = this.#shell.ledger.nextName();
    if (images.length === 0) {
      this.#shell.write(target, name, virtualContent(name, size));
      return;
    }
    const [path, { mtimeMs }] = this.#random.pick(images);
    this.#shell.remove(path);
    this.#shell.write(target, name, virtualContent(name, size));
    this.#shell.touch(target, mtimeMs);
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
    const target = this.#newPath();
    const existing = this.#shell.disk.at(target);
    if (existing !== undefined) return;
    this.#shell.rename(path, target);
    // The user continues to work in the renamed directory.
    this.#maybeSoon(0.3, 20, () => this.#create(joinPath(target, this.#random.pick(names))));
  }

  #makeTree(files: number): void {
    const top = this.#newPath();
    const directories = [top, joinPath(top, this.#random.pick(names)), joinPath(top, 'deep/er')];
    for (let i = 0; i < files; i++) {
      const directory = this.#random.pick(directories);
      if (this.#shell.makeDirectories(directory)) this.#attempt(() => this.#create(joinPath(directory, `f${i}`)));
    }
  }

  #fileToDirectory(path: string): void {
    this.#shell.remove(path);
    this.#maybeSoon(0.3, 10, () => {
      if (this.#shell.makeDirectories(path)) this.#create(joinPath(path, this.#random.pick(names)));
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
      const target = this.#random.chance(0.5) ? path : this.#newPath();
      if (this.#shell.disk.at(target) === undefined) this.#shell.moveIn(target, outside);
    });
  }

  /** Mostly of one size, so that the size reveals no change; sometimes too large to travel inline, or of several blocks. */
  #newValue(path: string): [name: string, content: Content] {
    const name = this.#shell.ledger.nextName();
    if (this.#random.chance(0.9)) return [name, contentOfText(name.padEnd(16))];
    const before = this.#shell.disk.at(path)?.content;
    const usual = this.#random.pick([inlineBytesMax + 1, 200_000, blockBytes, blockBytes + 1, 5 * blockBytes + 17]);
    const size = this.#hasLargeFiles && usual >= blockBytes ? timesLarger * usual : usual;
    // A new first page in each block, or only a new tail: most bytes are also in the version before.
    if (before !== undefined && before.size > inlineBytesMax && this.#random.chance(0.5))
      return [name, withNewTail(before, name, size)];
    return [name, virtualContent(name, size)];
  }

  #newPath(): string {
    return joinPath(this.#directory(), this.#random.pick(names));
  }

  #directory(): string {
    const directories = [''];
    for (const [path, inode] of this.#shell.disk.entries()) {
      if (inode.type === 'directory' && !isPassing(path) && path.split('/').length < depthMax)
        directories.push(path, path);
    }
    return this.#random.pick(directories);
  }

  #withFile(body: (path: string, inode: Inode) => void): void {
    this.#withAny(['file'], body);
  }

  #withAny(types: readonly InodeType[], body: (path: string, inode: Inode) => void): void {
    const found = [...this.#shell.disk.entries()].filter(
      ([path, { type }]) => types.includes(type) && !isPassing(path),
    );
    if (found.length > 0) body(...this.#random.pick(found));
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

function isPassing(path: string): boolean {
  return path === passingDirectory || isBelow(path, passingDirectory);
}

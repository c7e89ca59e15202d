import { joinPath, nameOf } from '@lockstep/shared';
import type { Story } from '../base/story.ts';
import { type Content, contentOfText } from '../disk/content.ts';
import type { Disk } from '../disk/disk.ts';
import { type Ledger, valueAt } from './ledger.ts';

/**
 * The actions of a user on their own disk, each at one instant. The ledger records the new value, and the values that the user saw and
 * replaced.
 */
export class UserShell {
  readonly disk: Disk;
  readonly ledger: Ledger;
  readonly #name: string;
  readonly #story: Story;
  /** The former path in the folder of each entry outside it. */
  readonly #namesOutside = new Map<string, string>();

  constructor(options: { name: string; disk: Disk; ledger: Ledger; story: Story }) {
    this.#name = options.name;
    this.disk = options.disk;
    this.ledger = options.ledger;
    this.#story = options.story;
  }

  /** Writes in place, or creates a file. */
  write(path: string, name: string, content: Content): void {
    const before = valueAt(this.disk.at(path));
    const isSame = before === content.id;
    this.disk.write(path, content);
    if (isSame) this.ledger.rewrote(content.id);
    else this.#letGo(before, `overwritten with ${name}`);
    this.ledger.wrote(this.#name, path, name, content);
    this.#record(() => `writes ${path} = ${name} (${content.size} bytes) over ${this.ledger.nameOf(before)}`);
  }

  /** As `write`, with a new short content, where others may have an entry too. */
  writeNew(path: string): void {
    const name = this.ledger.nextName();
    this.ledger.contested(path);
    this.write(path, name, contentOfText(name.padEnd(16)));
  }

  /** Changes the file's bytes without an event: through a mapping, or through a hard link outside the folder. */
  changeUnseen(path: string, name: string, content: Content, by: 'mapping' | 'other name'): void {
    const before = valueAt(this.disk.at(path));
    if (by === 'mapping') this.disk.store(path, content);
    else this.disk.writeElsewhere(path, content);
    this.#letGo(before, `overwritten with ${name}`);
    this.ledger.wrote(this.#name, path, name, content);
    this.#record(() => `writes ${path} = ${name} by ${by} over ${this.ledger.nameOf(before)}`);
  }

  symlink(path: string, name: string, target: string): void {
    this.disk.symlink(path, target);
    this.ledger.linked(this.#name, path, name, target);
    this.#record(() => `links ${path} = ${name}`);
  }

  remove(path: string): void {
    const before = valueAt(this.disk.at(path));
    this.disk.unlink(path);
    this.#letGo(before, 'deleted');
    this.#record(() => `deletes ${path} with ${this.ledger.nameOf(before)}`);
  }

  /** rm of a file that no other user has touched. */
  removeForGood(path: string): void {
    const value = valueAt(this.disk.at(path));
    this.remove(path);
    if (value !== undefined) this.ledger.removedForGood(value);
  }

  /** rm -rf. */
  removeTree(path: string): void {
    for (const [entry, inode] of [...this.disk.entries(path)].reverse()) {
      if (inode.type !== 'directory') this.remove(entry);
      else {
        this.disk.rmdir(entry);
        this.#record(() => `removes directory ${entry}`);
      }
    }
  }

  /** mkdir -p. False if another entry is in the way. */
  makeDirectories(path: string): boolean {
    let at = '';
    for (const name of path.split('/')) {
      at = joinPath(at, name);
      const existing = this.disk.at(at);
      if (existing === undefined) {
        this.disk.mkdir(at);
        this.#record(() => `makes directory ${at}`);
      } else if (existing.type !== 'directory') return false;
    }
    return true;
  }

  /** mv: overwrites the entry at `to`. */
  rename(from: string, to: string): void {
    // mv refuses this: nothing is written.
    if (from === to) return;
    const moved = [...this.disk.entries(from)].map(([path, inode]) => [path, valueAt(inode)] as const);
    const before = valueAt(this.disk.at(to));
    this.disk.rename(from, to);
    this.ledger.touchedBelow(from);
    this.#letGo(before, `overwritten by a rename of ${from}`);
    for (const [path, value] of moved) {
      this.ledger.copied(this.#name, to + path.slice(from.length), value);
      this.ledger.touched(value);
    }
    this.#record(
      () => `renames ${from} to ${to} (${this.ledger.nameOf(moved[0]?.[1])}) over ${this.ledger.nameOf(before)}`,
    );
  }

  /** cp. */
  copy(from: string, to: string): void {
    const content = this.disk.at(from)?.content;
    if (content === undefined) return;
    this.write(to, this.ledger.nameOf(valueAt(this.disk.at(from))), content);
  }

  /** mv out of the folder. Returns the new path. */
  moveOut(path: string): string {
    const values = [...this.disk.entries(path)].map(([, inode]) => valueAt(inode));
    const outside = `/elsewhere/${this.ledger.nextName()}`;
    this.disk.rename(path, outside);
    for (const value of values) this.ledger.movedOut(value, this.#name);
    this.ledger.movedOutBelow(path, this.#name);
    this.#namesOutside.set(outside, path);
    this.#record(() => `moves ${path} out of the folder`);
    return outside;
  }

  /** mv from outside into the folder. */
  moveIn(path: string, outside: string): void {
    const before = valueAt(this.disk.at(path));
    this.disk.rename(outside, path);
    this.#letGo(before, `overwritten by a move of ${outside}`);
    const isBack = this.#namesOutside.get(outside) === path;
    for (const [entry, inside] of this.disk.entries(path)) {
      if (isBack) this.ledger.putBack(this.#name, entry, valueAt(inside));
      else this.ledger.copied(this.#name, entry, valueAt(inside));
    }
    this.#record(() => `moves ${nameOf(path)} into the folder as ${path}`);
  }

  chmod(path: string, mode: number): void {
    this.disk.chmod(path, mode);
    this.ledger.touched(valueAt(this.disk.at(path)));
    this.#record(() => `changes the mode of ${path} to ${mode.toString(8)}`);
  }

  touch(path: string, mtimeMs: number): void {
    this.disk.utimes(path, mtimeMs);
    this.ledger.touched(valueAt(this.disk.at(path)));
    this.#record(() => `sets the time of ${path}`);
  }

  mkfifo(path: string): void {
    this.disk.mkfifo(path);
    this.#record(() => `makes a pipe ${path}`);
  }

  #letGo(value: string | undefined, what: string): void {
    this.ledger.release(value, this.#name, what);
  }

  #record(what: () => string): void {
    this.#story.add(this.#name, what);
  }
}

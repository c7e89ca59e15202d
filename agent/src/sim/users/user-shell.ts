import { joinPath, nameOf } from '@lockstep/shared';
import type { Story } from '../base/story.ts';
import type { Content } from '../disk/content.ts';
import type { Disk } from '../disk/disk.ts';
import { type Ledger, valueAt } from './ledger.ts';

/**
 * What a user does to their own disk, each call at one instant, written into the ledger: which value is there now, and which ones the
 * user had before their eyes and let go.
 */
export class UserShell {
  readonly disk: Disk;
  readonly ledger: Ledger;
  readonly #name: string;
  readonly #story: Story;

  constructor(options: { name: string; disk: Disk; ledger: Ledger; story: Story }) {
    this.#name = options.name;
    this.disk = options.disk;
    this.ledger = options.ledger;
    this.#story = options.story;
  }

  /** Writes in place, or makes a new file. */
  write(path: string, name: string, content: Content): void {
    const before = valueAt(this.disk.at(path));
    const isSame = before === content.id;
    this.disk.write(path, content);
    if (isSame) this.ledger.rewrote(content.id);
    else this.#letGo(before, `overwritten with ${name}`);
    this.ledger.wrote(this.#name, path, name, content);
    this.#tell(() => `writes ${path} = ${name} (${content.size} bytes) over ${this.ledger.nameOf(before)}`);
  }

  /** Changes the file's bytes without an event: through a mapping, or through a name outside the folder. */
  changeUnseen(path: string, name: string, content: Content, by: 'mapping' | 'other name'): void {
    const before = valueAt(this.disk.at(path));
    if (by === 'mapping') this.disk.store(path, content);
    else this.disk.writeElsewhere(path, content);
    this.#letGo(before, `overwritten with ${name}`);
    this.ledger.wrote(this.#name, path, name, content);
    this.#tell(() => `writes ${path} = ${name} by ${by} over ${this.ledger.nameOf(before)}`);
  }

  symlink(path: string, name: string, target: string): void {
    this.disk.symlink(path, target);
    this.ledger.linked(this.#name, path, name, target);
    this.#tell(() => `links ${path} = ${name}`);
  }

  remove(path: string): void {
    const before = valueAt(this.disk.at(path));
    this.disk.unlink(path);
    this.#letGo(before, 'deleted');
    this.#tell(() => `deletes ${path} with ${this.ledger.nameOf(before)}`);
  }

  /** rm of what nobody else has touched. */
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
        this.#tell(() => `removes directory ${entry}`);
      }
    }
  }

  /** mkdir -p. False when something else stands in the way. */
  makeDirectories(path: string): boolean {
    let at = '';
    for (const name of path.split('/')) {
      at = joinPath(at, name);
      const existing = this.disk.at(at);
      if (existing === undefined) {
        this.disk.mkdir(at);
        this.#tell(() => `makes directory ${at}`);
      } else if (existing.type !== 'directory') return false;
    }
    return true;
  }

  /** mv: what stood at `to` is overwritten. */
  rename(from: string, to: string): void {
    // mv refuses this: nothing would be written, and nobody's knowledge changes.
    if (from === to) return;
    const moved = [...this.disk.entries(from)].map(([path, inode]) => [path, valueAt(inode)] as const);
    const before = from === to ? undefined : valueAt(this.disk.at(to));
    this.disk.rename(from, to);
    this.#letGo(before, `overwritten by a rename of ${from}`);
    for (const [path, value] of moved) {
      this.ledger.copied(this.#name, to + path.slice(from.length), value);
      this.ledger.touched(value);
    }
    this.#tell(
      () => `renames ${from} to ${to} (${this.ledger.nameOf(moved[0]?.[1])}) over ${this.ledger.nameOf(before)}`,
    );
  }

  /** cp. */
  copy(from: string, to: string): void {
    const content = this.disk.at(from)?.content;
    if (content === undefined) return;
    this.write(to, this.ledger.nameOf(valueAt(this.disk.at(from))), content);
  }

  /** mv to somewhere outside the folder. Returns where. */
  moveOut(path: string): string {
    const values = [...this.disk.entries(path)].map(([, inode]) => valueAt(inode));
    const outside = `/elsewhere/${this.ledger.nextName()}`;
    this.disk.rename(path, outside);
    for (const value of values) this.#letGo(value, 'moved out of the folder');
    this.#tell(() => `moves ${path} out of the folder`);
    return outside;
  }

  /** mv from outside into the folder. */
  moveIn(path: string, outside: string): void {
    this.disk.rename(outside, path);
    for (const [entry, inside] of this.disk.entries(path)) this.ledger.copied(this.#name, entry, valueAt(inside));
    this.#tell(() => `moves ${nameOf(path)} into the folder as ${path}`);
  }

  chmod(path: string, mode: number): void {
    this.disk.chmod(path, mode);
    this.ledger.touched(valueAt(this.disk.at(path)));
    this.#tell(() => `changes the mode of ${path} to ${mode.toString(8)}`);
  }

  touch(path: string, mtimeMs: number): void {
    this.disk.utimes(path, mtimeMs);
    this.ledger.touched(valueAt(this.disk.at(path)));
    this.#tell(() => `sets the time of ${path}`);
  }

  mkfifo(path: string): void {
    this.disk.mkfifo(path);
    this.#tell(() => `makes a pipe ${path}`);
  }

  #letGo(value: string | undefined, what: string): void {
    this.ledger.release(value, this.#name, what);
  }

  #tell(what: () => string): void {
    this.#story.tell(this.#name, what);
  }
}

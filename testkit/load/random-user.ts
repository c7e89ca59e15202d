import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** A small seeded generator (mulberry32), so that a run can be repeated as far as real processes allow. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The prefix of files that are only ever put in place whole. Each contains the hash of its own text. */
export const wholePrefix = 'whole-';

function wholeText(body: string): string {
  return `${createHash('sha256').update(body).digest('hex')}\n${body}`;
}

/** The fault of a whole file's text; undefined if it is as a user wrote it. */
export function wholeFault(text: string): string | undefined {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  return wholeText(body) === text ? undefined : `${text.length} B that no user wrote: ${text.slice(0, 80)}`;
}

const names = ['a', 'b', 'c', 'd e', 'f\ng', 'ü'];

/** Removes what is at `path`, if anything. `lstat` names a loop of links by its code; `rmSync` of later Nodes does not. */
function removeTree(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmSync(path, { recursive: true });
}

interface RandomUserOptions {
  /** The directory in which the user works. */
  readonly folder: string;
  readonly name: string;
  /** A directory outside the folder, on the same file system. */
  readonly outside: string;
  readonly random: () => number;
}

/**
 * A user who works in one member's folder without care: writes, appends, saves whole, renames, swaps, deletes, links. Below `keep` users
 * only add and rename files: all of `kept` must exist at the end. Below `gone` each user deletes only its own files, and no other user
 * touches them: none of `removed` may ever come back.
 */
export class RandomUser {
  readonly kept: string[] = [];
  /** Names below `gone` that the user has deleted. */
  readonly removed: string[] = [];
  /** Names below `gone` that had disappeared before their user deleted them. */
  readonly vanished: string[] = [];
  readonly #passing: string[] = [];
  readonly #root: string;
  readonly #name: string;
  readonly #outside: string;
  readonly #random: () => number;
  #count = 0;

  constructor({ folder, name, outside, random }: RandomUserOptions) {
    this.#root = folder;
    this.#name = name;
    this.#outside = outside;
    this.#random = random;
    mkdirSync(outside, { recursive: true });
  }

  /** Does one action. One that is not possible now (a file at the place of a directory) is skipped. */
  act(): void {
    try {
      this.#act();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'EINVAL', 'ELOOP'].includes(code ?? '')) throw error;
    }
  }

  #act(): void {
    const what = this.#random();
    if (what < 0.15) this.#add();
    else if (what < 0.2) this.#addOrRemove();
    else if (what < 0.35) this.#saveWhole();
    else if (what < 0.45) writeFileSync(this.#path(), this.#text());
    else if (what < 0.5) appendFileSync(this.#path(), this.#text());
    else if (what < 0.58) mkdirSync(this.#path(), { recursive: true });
    else if (what < 0.68) renameSync(this.#path(), this.#path());
    else if (what < 0.74) this.#renameKept();
    else if (what < 0.8) removeTree(this.#path());
    else if (what < 0.84) symlinkSync(this.#pick(names), this.#path());
    else if (what < 0.88) chmodSync(this.#path(), 0o700 + Math.floor(this.#random() * 0o100));
    else if (what < 0.92) utimesSync(this.#path(), 1e9 + this.#count, 1e9 + this.#count);
    else if (what < 0.96) this.#swap();
    else this.#replaceByOtherKind();
  }

  #add(): void {
    this.#count += 1;
    const text = `kept ${this.#name} ${this.#count} ${this.#text()}`;
    const directory = join(this.#root, 'keep', this.#pick(['x', 'y', 'z']));
    mkdirSync(directory, { recursive: true });
    const path = join(directory, `${this.#name}-${this.#count}`);
    writeFileSync(path, text, { flag: 'wx' });
    this.kept.push(text);
  }

  #addOrRemove(): void {
    const directory = join(this.#root, 'gone');
    if (this.#random() < 0.5) {
      this.#count += 1;
      const name = `${this.#name}-${this.#count}`;
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, name), this.#text(), { flag: 'wx' });
      this.#passing.push(name);
    } else {
      const [name] = this.#passing.splice(Math.floor(this.#random() * this.#passing.length), 1);
      if (name === undefined) return;
      if (!existsSync(join(directory, name))) this.vanished.push(name);
      rmSync(join(directory, name));
      this.removed.push(name);
    }
  }

  /** Renames a kept file without replacing another: the new name was never used before. */
  #renameKept(): void {
    const directory = join(this.#root, 'keep', this.#pick(['x', 'y', 'z']));
    const name = this.#pick(readdirSync(directory));
    this.#count += 1;
    const to = join(this.#root, 'keep', this.#pick(['x', 'y', 'z']), `${this.#name}-renamed-${this.#count}`);
    if (name !== undefined && !existsSync(to)) renameSync(join(directory, name), to);
  }

  #saveWhole(): void {
    const temporary = join(this.#outside, 'save');
    writeFileSync(temporary, wholeText(this.#text()));
    renameSync(temporary, join(this.#root, this.#pick(['', 'a', 'b']), wholePrefix + this.#pick(['1', '2', '3', '4'])));
  }

  #swap(): void {
    const [one, other, aside] = [this.#path(), this.#path(), join(this.#outside, 'aside')];
    if (!existsSync(one) || !existsSync(other) || one.startsWith(other) || other.startsWith(one)) return;
    renameSync(one, aside);
    renameSync(other, one);
    renameSync(aside, other);
  }

  #replaceByOtherKind(): void {
    const path = this.#path();
    let file = false;
    try {
      readFileSync(path);
      file = true;
    } catch {
      // It is a directory, or does not exist.
    }
    removeTree(path);
    if (file) mkdirSync(join(path, this.#pick(names)), { recursive: true });
    else writeFileSync(path, this.#text());
  }

  #text(): string {
    this.#count += 1;
    const line = `${this.#name} ${this.#count}\n`;
    return this.#random() < 0.03 ? line.repeat(20_000) : line.repeat(1 + Math.floor(this.#random() * 200));
  }

  #path(): string {
    const depth = 1 + Math.floor(this.#random() * 3);
    return join(this.#root, ...Array.from({ length: depth }, () => this.#pick(names)));
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item;
  }
}

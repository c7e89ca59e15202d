import { joinPath, nameOf, parentOf } from '@lockstep/shared';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import type { Random } from '../base/random.ts';
import { DiskError } from '../disk/disk-error.ts';
import type { UserShell } from './user-shell.ts';

/** Changes of an entry on which an agent is working, with their relative frequencies. */
const habits = {
  overwrite: 6,
  saveByRename: 4,
  remove: 2,
  renameAway: 2,
  chmod: 1,
  touch: 1,
  create: 4,
} as const;

/** The probability that a directory above the entry is changed instead. */
const aboveChance = 0.1;

/** A user who changes the entry on which an agent is working, between two of its system calls. */
export class Meddler {
  readonly #shell: UserShell;
  readonly #random: Random;

  constructor(shell: UserShell, random: Random) {
    this.#shell = shell;
    this.#random = random;
  }

  /** Changes the entry at a path below the folder, or creates one. */
  meddle(path: string): void {
    // Random rules in the ignore file are not under test.
    if (path === ignoreFileName) return;
    try {
      this.#act(path);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
    }
  }

  #act(path: string): void {
    if (parentOf(path) !== '' && this.#random.chance(aboveChance)) {
      this.#exchange(parentOf(path));
      return;
    }
    const inode = this.#shell.disk.at(path);
    if (inode === undefined || inode.type === 'symlink') {
      if (inode === undefined) this.#shell.writeNew(path);
      else this.#saveByRename(path);
      return;
    }
    const habit = this.#random.weighted(habits);
    if (inode.type === 'directory') {
      if (habit === 'renameAway') this.#renameAway(path);
      else this.#shell.writeNew(joinPath(path, 'meddled'));
      return;
    }
    if (inode.type === 'special') return;
    switch (habit) {
      case 'saveByRename':
        this.#saveByRename(path);
        break;
      case 'remove':
        this.#shell.remove(path);
        break;
      case 'renameAway':
        this.#renameAway(path);
        break;
      case 'chmod':
        this.#shell.chmod(path, this.#random.pick([0o600, 0o640, 0o755]));
        break;
      case 'touch':
        this.#shell.touch(path, inode.mtimeMs - 1_000 * this.#random.below(90_000));
        break;
      default:
        this.#shell.writeNew(path);
    }
  }

  #saveByRename(path: string): void {
    const temporary = joinPath(parentOf(path), `.${nameOf(path)}.new`);
    this.#shell.writeNew(temporary);
    this.#shell.rename(temporary, path);
  }

  /** Replaces a directory by a link to one outside the folder. */
  #exchange(directory: string): void {
    if (this.#shell.disk.at(directory)?.type !== 'directory' || !this.#renameAway(directory)) return;
    const name = this.#shell.ledger.nextName();
    this.#shell.disk.mkdir(`/elsewhere/${name}`);
    this.#shell.symlink(directory, name, `/elsewhere/${name}`);
  }

  /** False if the other name is taken. */
  #renameAway(path: string): boolean {
    const target = joinPath(parentOf(path), `${nameOf(path)}-${this.#random.below(3)}`);
    if (this.#shell.disk.at(target) !== undefined) return false;
    this.#shell.rename(path, target);
    return true;
  }
}

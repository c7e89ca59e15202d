import { blockBytes, fileTimeUsMax, fileTimeUsMin, inlineBytesMax, isBelow, joinPath } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import { type Content, contentOfText, virtualContent, withNewTail } from '../disk/content.ts';
import type { Inode, InodeType } from '../disk/inode.ts';
import type { UserShell } from './user-shell.ts';

/** Few names, so that members use the same paths. */
const names = ['a', 'b', 'c', 'Doc.txt', 'notes.tar.gz', '-x y%'];
const depthMax = 3;
/** Each user only creates and deletes their own files here: no other user wants a file that is deleted here. */
export const passingDirectory = 'passing';

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

/** The random choices of a user: names, paths, entries of the folder, and the values of files. */
export class Choices {
  readonly #shell: UserShell;
  readonly #random: Random;
  readonly #hasLargeFiles: boolean;

  constructor(shell: UserShell, random: Random, hasLargeFiles: boolean) {
    this.#shell = shell;
    this.#random = random;
    this.#hasLargeFiles = hasLargeFiles;
  }

  name(): string {
    return this.#random.pick(names);
  }

  /** Mostly of one size, so that the size reveals no change; sometimes too large to travel inline, or of several blocks. */
  newValue(path: string): [name: string, content: Content] {
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

  /** A path in the folder, taken or free. */
  newPath(): string {
    return joinPath(this.directory(), this.name());
  }

  /** A directory of the folder, the upper ones more often. */
  directory(): string {
    const directories = [''];
    for (const [path, inode] of this.#shell.disk.entries()) {
      if (inode.type === 'directory' && !isPassing(path) && path.split('/').length < depthMax)
        directories.push(path, path);
    }
    return this.#random.pick(directories);
  }

  /** Does this with one of the files, if there is one. */
  withFile(body: (path: string, inode: Inode) => void): void {
    this.withAny(['file'], body);
  }

  /** Does this with one of the entries of these types, if there is one. */
  withAny(types: readonly InodeType[], body: (path: string, inode: Inode) => void): void {
    const found = [...this.#shell.disk.entries()].filter(
      ([path, { type }]) => types.includes(type) && !isPassing(path),
    );
    if (found.length > 0) body(...this.#random.pick(found));
  }

  /** A value that adds something to the end of the one before. */
  appendedValue(before: Content): [name: string, content: Content] {
    const name = this.#shell.ledger.nextName();
    if (before.size > inlineBytesMax) {
      const size = before.size + this.#random.below(blockBytes);
      return [name, withNewTail(before, name, size)];
    }
    const text = new TextDecoder().decode(before.parts[0]).slice(-200);
    return [name, contentOfText(`${text}\n${name}`)];
  }

  /** Another time for a file. */
  fileTime({ mtimeMs }: Inode): number {
    if (this.#random.chance(0.3)) return this.#random.pick(extremeTimesMs);
    return mtimeMs - 1_000 * this.#random.below(90_000);
  }
}

function isPassing(path: string): boolean {
  return path === passingDirectory || isBelow(path, passingDirectory);
}

import { blockBytes, inlineBytesMax } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import { contentOfText, virtualContent } from '../disk/content.ts';
import type { Choices } from './choices.ts';
import type { UserShell } from './user-shell.ts';

/** Changes of files that neither a watch nor size and time reveal, or not for certain. */
export class UnseenChanges {
  readonly #shell: UserShell;
  readonly #random: Random;
  readonly #choices: Choices;
  readonly #soon: (delayMsMax: number, body: () => void) => void;

  constructor(options: {
    shell: UserShell;
    random: Random;
    choices: Choices;
    soon: (delayMsMax: number, body: () => void) => void;
  }) {
    this.#shell = options.shell;
    this.#random = options.random;
    this.#choices = options.choices;
    this.#soon = options.soon;
  }

  /** Writes two values of one size within a moment: perhaps within one step of the file times. */
  overwriteTwice(path: string): void {
    const write = () => {
      const name = this.#shell.ledger.nextName();
      this.#shell.write(path, name, contentOfText(name.padEnd(16)));
    };
    write();
    this.#soon(6, write);
  }

  /** Some stores into one page. Those that find it dirty leave no trace. */
  storeMapped(path: string): void {
    this.changeUnseen(path, 'mapping');
    for (let more = this.#random.below(4); more > 0; more--) {
      this.#soon(this.#random.pick([5, 100, 1_000]), () => this.changeUnseen(path, 'mapping'));
    }
  }

  /** Stores another value of the same size, if the file is small. */
  changeUnseen(path: string, by: 'mapping' | 'other name'): void {
    const size = this.#shell.disk.at(path)?.content?.size ?? 0;
    const name = this.#shell.ledger.nextName();
    if (size < name.length || size > inlineBytesMax) return;
    this.#shell.changeUnseen(path, name, contentOfText(name.padEnd(size)), by);
  }

  /** `rm image-1; cp -p image-2`: another file of equal size and time, with the inode number of the removed one. */
  replaceAlike(): void {
    const size = 3 * blockBytes;
    const images = [...this.#shell.disk.entries()].filter(([, { content }]) => content?.size === size);
    const target = this.#choices.newPath();
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
}

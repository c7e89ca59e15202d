import type { Inode } from '../disk/inode.ts';

/** Hears what the agent knows of an entry of its folder when it replaces it. */
export interface LookListener {
  looked(path: string, inode: Inode | undefined): void;
  held(path: string): void;
  replaces(path: string, inode: Inode): void;
}

/** Calls between the last look at a name and the rename onto it, where the agent holds no second name of what is there. */
const callsBetweenMax = 2;

/**
 * Knows what an agent has seen at a name before it renames something onto it. A file that a user renames onto the name after the last look
 * is replaced unseen, as GUARANTEES says; without that look nothing excuses it.
 */
export class LookWatch implements LookListener {
  readonly #lost: (inode: Inode) => void;
  readonly #looks = new Map<string, { readonly inode: Inode | undefined; readonly call: number }>();
  readonly #held = new Set<string>();
  #calls = 0;

  /** `lost`: hears of what went so. */
  constructor(lost: (inode: Inode) => void) {
    this.#lost = lost;
  }

  /** What was seen before counts no more. */
  begin(): void {
    this.#looks.clear();
    this.#held.clear();
  }

  /** A system call is made. */
  count(): void {
    this.#calls += 1;
  }

  looked(path: string, inode: Inode | undefined): void {
    this.#looks.set(path, { inode, call: this.#calls });
  }

  held(path: string): void {
    this.#held.add(path);
    this.#looks.delete(path);
  }

  replaces(path: string, replaced: Inode): void {
    const look = this.#looks.get(path);
    const isLate = look !== undefined && (this.#held.has(path) || this.#calls - look.call <= callsBetweenMax + 1);
    if (isLate && look.inode !== replaced) this.#lost(replaced);
  }
}

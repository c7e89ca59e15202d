import type { Inode } from '../disk/inode.ts';

/**
 * Receives what the agent knows of an entry of its folder when it replaces it. `place`: its name and the inode of its directory. The agent
 * acts in a directory that it has open, which a user may move meanwhile.
 */
export interface ReplaceListener {
  checked(place: string, inode: Inode | undefined): void;
  held(place: string, inode: Inode): void;
  replaces(place: string, inode: Inode): void;
}

/** Calls between the last check of a name and the rename onto it, if the agent has no second name of the entry. */
const callsBetweenMax = 2;

/** A call counts once for each path that it names. */
const pathsOfRename = 2;

/**
 * Records what an agent has seen at a name before it renames an entry onto it. A file that a user renames onto the name after the last
 * check is replaced unseen, as GUARANTEES says; without that check nothing excuses it.
 */
export class ReplaceWatch implements ReplaceListener {
  readonly #lost: (inode: Inode) => void;
  readonly #checks = new Map<string, { readonly inode: Inode | undefined; readonly call: number }>();
  /** Entries that got a second name. */
  readonly #held = new Map<string, { readonly inode: Inode; readonly call: number }>();
  #calls = 0;

  /** `lost`: called with an inode that was replaced unseen. */
  constructor(lost: (inode: Inode) => void) {
    this.#lost = lost;
  }

  /** Forgets earlier checks. */
  begin(): void {
    this.#checks.clear();
    this.#held.clear();
  }

  /** Counts a system call. */
  count(): void {
    this.#calls += 1;
  }

  checked(place: string, inode: Inode | undefined): void {
    this.#checks.set(place, { inode, call: this.#calls });
  }

  held(place: string, inode: Inode): void {
    this.#held.set(place, { inode, call: this.#calls });
    this.#checks.delete(place);
  }

  replaces(place: string, replaced: Inode): void {
    const check = this.#checks.get(place);
    const held = this.#held.get(place);
    // An edited file gets its name back by the call after the one that gives the file in its place a second name.
    const isGivenBack = check === undefined && held !== undefined && this.#calls - held.call <= pathsOfRename;
    if (isGivenBack && held.inode !== replaced) this.#lost(replaced);
    const isLate = check !== undefined && (held !== undefined || this.#calls - check.call <= callsBetweenMax + 1);
    if (isLate && check.inode !== replaced) this.#lost(replaced);
  }
}

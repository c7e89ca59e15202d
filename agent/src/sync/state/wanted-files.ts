import { isBelow } from '@lockstep/shared';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';

/** The setting of the journal that has the pinned paths, as a JSON array. */
export const pinsSetting = 'pins';

/** The files whose contents this member has, or fetches now. A member with the whole folder wants all. */
export class WantedFiles {
  readonly #isOnDemand: boolean;
  /** How many readers wait for each file. */
  readonly #demanded = new Map<string, number>();
  /** Files that this member is about to drop: other members must not count on them. */
  readonly dropping = new Set<string>();
  #pins: readonly string[];

  /** `pins`: the text of the setting. */
  constructor(isOnDemand: boolean, pins: string | undefined) {
    this.#isOnDemand = isOnDemand;
    this.#pins = pins === undefined ? [] : (JSON.parse(pins) as string[]);
  }

  /** The paths that a person pinned: they and all below stay here. */
  get pins(): readonly string[] {
    return this.#pins;
  }

  set pins(paths: readonly string[]) {
    this.#pins = paths;
  }

  /** True for a file that is to be on this disk. */
  isWanted(path: string): boolean {
    return !this.#isOnDemand || this.#demanded.has(path) || this.mustStay(path);
  }

  /** True for a file that a person pinned, or that this member needs itself. */
  mustStay(path: string): boolean {
    return holdsIgnoreRules(path) || this.#pins.some((pin) => pin === '' || pin === path || isBelow(path, pin));
  }

  /** True while a reader waits for the file. */
  isDemanded(path: string): boolean {
    return this.#demanded.has(path);
  }

  /** A reader waits for the file. Call the result when it does no more. */
  demand(path: string): () => void {
    this.#demanded.set(path, (this.#demanded.get(path) ?? 0) + 1);
    let isOver = false;
    return () => {
      const count = this.#demanded.get(path) ?? 0;
      if (isOver) return;
      isOver = true;
      if (count > 1) this.#demanded.set(path, count - 1);
      else this.#demanded.delete(path);
    };
  }
}

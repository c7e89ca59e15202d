import { isBelow } from '@lockstep/shared';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import type { SettingTable } from '../ports/journal.ts';

/** The setting of the journal that has the pinned paths, as a JSON array. */
const pinsSetting = 'pins';

/** The files whose contents this member has, or fetches now. A member with the whole folder wants all. */
export class WantedFiles {
  readonly #isOnDemand: boolean;
  /** How many readers wait for each file. */
  readonly #demanded = new Map<string, number>();
  /** Files that are fetched although no reader asked for them. */
  readonly #prefetched = new Set<string>();
  /** Readers that wait for a file now, except for a small one that was being prefetched. Nothing is prefetched meanwhile. */
  waitingReaders = 0;
  /** Files that this member is about to drop: other members must not count on them. */
  readonly dropping = new Set<string>();
  readonly #settings: SettingTable;
  #pins: readonly string[];
  #isPlaced: (path: string) => boolean = () => false;
  #hasRoom: (bytes: number) => boolean = () => true;

  constructor(isOnDemand: boolean, settings: SettingTable) {
    this.#isOnDemand = isOnDemand;
    this.#settings = settings;
    const pins = settings.get(pinsSetting);
    this.#pins = pins === undefined ? [] : (JSON.parse(pins) as string[]);
  }

  /** The paths that a person pinned: they and all below stay here. */
  get pins(): readonly string[] {
    return this.#pins;
  }

  set pins(paths: readonly string[]) {
    this.#pins = paths;
    this.#settings.set(pinsSetting, JSON.stringify(paths));
  }

  /** `isPlaced` says of which files this member keeps a copy for the cluster. */
  placedBy(isPlaced: (path: string) => boolean): void {
    this.#isPlaced = isPlaced;
  }

  /** `hasRoom` says whether so many bytes more fit into the cache. */
  limitedBy(hasRoom: (bytes: number) => boolean): void {
    this.#hasRoom = hasRoom;
  }

  /** True if so many bytes more fit into the cache. */
  hasRoom(bytes: number): boolean {
    return this.#hasRoom(bytes);
  }

  /** True for a file that is to be on this disk when its operation is applied. */
  isWanted(path: string): boolean {
    return !this.#isOnDemand || this.isDemanded(path) || this.#isNeeded(path);
  }

  /** True for a file of which this member keeps a copy for the cluster: it is fetched later, if it is not here. */
  isPlaced(path: string): boolean {
    return this.#isPlaced(path);
  }

  /** True for a file that is not dropped: a person pinned it, this member needs it itself, or keeps it for the cluster. */
  mustStay(path: string): boolean {
    return this.#isNeeded(path) || this.#isPlaced(path);
  }

  /** True while the file is fetched, or must stay for a reader. */
  isDemanded(path: string): boolean {
    return this.#demanded.has(path) || this.#prefetched.has(path);
  }

  /** True while the file is only prefetched: no reader asked for it. */
  isPrefetched(path: string): boolean {
    return this.#prefetched.has(path) && !this.#demanded.has(path);
  }

  /** The file is prefetched. Call the result when that has ended. */
  prefetch(path: string): () => void {
    this.#prefetched.add(path);
    return () => void this.#prefetched.delete(path);
  }

  #isNeeded(path: string): boolean {
    return holdsIgnoreRules(path) || this.#pins.some((pin) => pin === '' || pin === path || isBelow(path, pin));
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

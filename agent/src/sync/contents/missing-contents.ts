import { type ContentId, dotKey, isBelow, type MemberId, type Operation, parentOf } from '@lockstep/shared';

/** All members must lack a content for this long before it counts as lost: a file that is being replaced is missing for a moment. */
export const lostAfterMs = 5_000;

/** A member's answer that it has a content neither in its folder nor in its history. */
export interface LackingMember {
  readonly member: MemberId;
  /** Its disk has an entry at the path. */
  readonly shows: boolean;
  /** With `shows`: only the name of a file that is fetched on demand. */
  readonly named?: boolean | undefined;
}

/** The result of a search for a content. */
interface Searched {
  readonly lacking: readonly LackingMember[];
  /** All other members that have not left. */
  readonly members: readonly MemberId[];
  /** Members that left and may have it. */
  readonly left?: readonly MemberId[];
  readonly nowMs: number;
}

interface Missing {
  readonly operation: Operation;
  /** A problem has reported it: a user who writes or deletes at the path knows of it. */
  isReported: boolean;
  /** Members that could not be asked, or did not answer that they lack it. */
  blockedBy: readonly MemberId[];
  /** Members that left and may have it. */
  left: readonly MemberId[];
  /** Some member has an entry at the path, and one has only the name of a file that is fetched on demand. */
  isShown: boolean;
  isNamed: boolean;
  /** Time since which all members have lacked it. */
  lostSinceMs: number | undefined;
  isLost: boolean;
}

/** Operations whose content no member that was asked has. */
export class MissingContents {
  readonly #lost: () => void;
  readonly #missing = new Map<string, Missing>();
  /** Whether a path may have a change that is not journaled yet. */
  #isChanging: (path: string) => boolean = () => false;

  /** `lost` is called when a content becomes lost. */
  constructor(lost: () => void = () => undefined) {
    this.#lost = lost;
  }

  get isEmpty(): boolean {
    return this.#missing.size === 0;
  }

  /** True if a content was searched for this path and no member that was asked had it. */
  isAt(path: string): boolean {
    for (const { operation } of this.#missing.values()) if (operation.path === path) return true;
    return false;
  }

  /** Records the result of a search. */
  searched(operation: Operation, { lacking, members, left = [], nowMs }: Searched): void {
    const found = this.#of(operation);
    found.left = left;
    found.blockedBy = members.filter((id) => !lacking.some(({ member }) => member === id));
    found.isShown = lacking.some(({ shows, named }) => shows && named !== true);
    found.isNamed = lacking.some(({ named }) => named === true);
    if (found.blockedBy.length > 0) found.lostSinceMs = undefined;
    else found.lostSinceMs ??= nowMs;
    const wasLost = found.isLost;
    found.isLost = found.lostSinceMs !== undefined && nowMs - found.lostSinceMs >= lostAfterMs;
    if (found.isLost && !wasLost) this.#lost();
  }

  /** Sets the function that tells whether a path may have a change that is not journaled yet. */
  heed(isChanging: (path: string) => boolean): void {
    this.#isChanging = isChanging;
  }

  /**
   * Records that a problem of the path reports the missing content. While a change at the path or above it is not journaled, the report
   * does not count: the user made that change without knowing of it.
   */
  report(operation: Operation): void {
    for (let path = operation.path; ; path = parentOf(path)) {
      if (this.#isChanging(path)) return;
      if (path === '') break;
    }
    this.#of(operation).isReported = true;
  }

  /** Records that no problem reports it any more. */
  withdraw(operation: Operation): void {
    const found = this.#missing.get(dotKey(operation));
    if (found !== undefined) found.isReported = false;
  }

  isReported(operation: Operation): boolean {
    return this.#missing.get(dotKey(operation))?.isReported === true;
  }

  /** Operations below a directory whose missing content a problem reports. */
  reportedBelow(directory: string): readonly Operation[] {
    return [...this.#missing.values()]
      .filter(({ operation, isReported }) => isReported && isBelow(operation.path, directory))
      .map(({ operation }) => operation);
  }

  /** True if every member that has not left has lacked the content for `lostAfterMs`. */
  isLost(operation: Operation): boolean {
    return this.#missing.get(dotKey(operation))?.isLost === true;
  }

  isShown(operation: Operation): boolean {
    return this.#missing.get(dotKey(operation))?.isShown === true;
  }

  /** A member that fetches on demand has the name of the file at the path. */
  isNamed(operation: Operation): boolean {
    return this.#missing.get(dotKey(operation))?.isNamed === true;
  }

  /** The members that may still have it. */
  blockedBy(operation: Operation): readonly MemberId[] {
    return this.#missing.get(dotKey(operation))?.blockedBy ?? [];
  }

  /** The members that left and may have it, as they were at the last search: one that takes part again is asked first. */
  leftWith(operation: Operation): readonly MemberId[] {
    return this.#missing.get(dotKey(operation))?.left ?? [];
  }

  lost(): readonly Operation[] {
    return [...this.#missing.values()].filter(({ isLost }) => isLost).map(({ operation }) => operation);
  }

  /** Removes the operations with this content: it has arrived. */
  found(content: ContentId): void {
    for (const [key, { operation }] of this.#missing) if (operation.content === content) this.#missing.delete(key);
  }

  /** Removes operations that are no longer heads. */
  keepOnly(isHead: (operation: Operation) => boolean): void {
    for (const [key, { operation }] of this.#missing) if (!isHead(operation)) this.#missing.delete(key);
  }

  #of(operation: Operation): Missing {
    const key = dotKey(operation);
    let found = this.#missing.get(key);
    if (found === undefined) {
      found = {
        operation,
        isReported: false,
        blockedBy: [],
        left: [],
        isShown: false,
        isNamed: false,
        lostSinceMs: undefined,
        isLost: false,
      };
      this.#missing.set(key, found);
    }
    return found;
  }
}

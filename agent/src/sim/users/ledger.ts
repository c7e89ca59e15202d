import { type Content, isZeros } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';

/** What a file's bytes or a link's text are known by. */
export type ValueKey = string;

/** A value that some user wrote. */
export interface Value {
  readonly key: ValueKey;
  /** Short, for people: `v12`. */
  readonly name: string;
  writer: string;
  path: string;
  /**
   * Who let go of it, and how: users who overwrote or deleted it with it before their eyes. A user who brings it back takes back
   * only what they did themselves: of a file that was away and is back nobody else can know.
   */
  readonly releases: Map<string, string>;
  /** Who brought it back after they had let go of it. */
  readonly returners: Set<string>;
  /** How often anybody let go of it, brought back or not. */
  timesReleased: number;
  /** How often a user wrote it over itself: for a moment it was not there, and its bytes may be in memory alone since. */
  timesRewritten: number;
  /** The moment at which it was last written or brought back. */
  owedSince: number;
}

/** The value at a name, if that is one: directories and empty files carry none. */
export function valueAt(inode: Inode | undefined): ValueKey | undefined {
  if (inode?.type === 'symlink') return `link:${inode.target}`;
  return inode?.content !== undefined && inode.content.size > 0 ? inode.content.id : undefined;
}

/**
 * Everything that users wrote and what became of it as far as users are concerned: the side of the rules Keep and Atomic that
 * owes nothing to the engine. A value is owed until a user overwrites or deletes it on a disk that shows it.
 */
export class Ledger {
  readonly #values = new Map<ValueKey, Value>();
  readonly #written = new Set<ValueKey>();
  readonly #gone = new Set<ValueKey>();
  /** Whose mode, time or name somebody changed: that is an edit, and holds against a delete. */
  readonly #touched = new Set<ValueKey>();
  readonly #contested = new Set<string>();
  /** Values that a power cut gave an earlier name again, or took from a name at which they were written once more. */
  readonly #movedBack = new Set<ValueKey>();
  #count = 0;
  #moment = 0;

  /** Grows with each value that is written or brought back. */
  get moment(): number {
    return this.#moment;
  }

  /** A name that no other value has. */
  nextName(): string {
    this.#count += 1;
    return `v${this.#count}`;
  }

  /** A user made the file's content this, whole or as a step on the way. */
  wrote(writer: string, path: string, name: string, content: Content): void {
    this.#written.add(content.id);
    // Only power cuts make zeros here. A user may write them again, and an agent still takes them for what the power cut left [PC2].
    if (content.size > 0 && !isZeros(content)) this.#owe(content.id, name, writer, path);
  }

  /** A power cut left this of what a user wrote. */
  tore(content: Content): void {
    this.#written.add(content.id);
  }

  /** A user made a symbolic link. */
  linked(writer: string, path: string, name: string, target: string): void {
    this.#owe(`link:${target}`, name, writer, path);
  }

  /** A user brought a value to another place, or back to where it was. */
  copied(writer: string, path: string, key: ValueKey | undefined): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value !== undefined) this.#owe(value.key, value.name, writer, path);
    // A user who moves what a power cut left makes it their own.
    else if (key !== undefined) this.#written.add(key);
  }

  /** Someone let go of this value, having it before their eyes. */
  release(key: ValueKey | undefined, who: string, how: string): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value === undefined) return;
    value.releases.set(who, how);
    value.timesReleased += 1;
  }

  /** A power cut or a set-back undid what a user had done last: what they had brought back and is not among `left` they have let go of all the same. */
  tookBack(user: string, left: ReadonlySet<ValueKey>): void {
    for (const { key, returners } of this.#values.values()) {
      if (returners.has(user) && !left.has(key)) this.release(key, user, 'brought back, and that was undone');
    }
  }

  /** A power cut undid the rename of this value, or its last writing. */
  movedBack(key: ValueKey): void {
    this.#movedBack.add(key);
  }

  /** True for a value that an agent may take for a version that was replaced at the name that a power cut gave it again [PC2]. */
  wasMovedBack(key: ValueKey): boolean {
    return this.#movedBack.has(key);
  }

  /** Its only user deleted it: nobody has a reason to bring it back. */
  removedForGood(key: ValueKey): void {
    this.#gone.add(key);
  }

  /** True for a value that may be nowhere any more. */
  isGone(key: ValueKey): boolean {
    const path = this.#values.get(key)?.path ?? '';
    return this.#gone.has(key) && !this.#touched.has(key) && !this.#contested.has(path);
  }

  /** Somebody made a file at a path where others may have one: whatever stands there can get a conflict copy. */
  contested(path: string): void {
    this.#contested.add(path);
  }

  /** Somebody changed the mode, the time or the name of a file with this value. */
  touched(key: ValueKey | undefined): void {
    if (key !== undefined) this.#touched.add(key);
  }

  /** Someone wrote this value in place over itself. */
  rewrote(key: ValueKey): void {
    const value = this.#values.get(key);
    if (value !== undefined) value.timesRewritten += 1;
  }

  /** True when some user wrote exactly this content. */
  isWritten(content: Content): boolean {
    return content.size === 0 || this.#written.has(content.id);
  }

  /** The moment since which a value is where it is; undefined once anybody let go of it, or wrote it over itself. */
  untouchedSince(key: ValueKey): number | undefined {
    const value = this.#values.get(key);
    return value?.timesReleased === 0 && value.timesRewritten === 0 ? value.owedSince : undefined;
  }

  /** Every value that must still exist. */
  owed(): readonly Value[] {
    return [...this.#values.values()].filter(({ releases }) => releases.size === 0);
  }

  /** The value's name, for people. */
  nameOf(key: ValueKey | undefined): string {
    if (key === undefined) return 'nothing';
    return this.#values.get(key)?.name ?? key.slice(0, 12);
  }

  #owe(key: ValueKey, name: string, writer: string, path: string): void {
    const value = this.#values.get(key) ?? {
      key,
      name,
      writer,
      path,
      releases: new Map(),
      returners: new Set(),
      timesReleased: 0,
      timesRewritten: 0,
      owedSince: 0,
    };
    value.owedSince = ++this.#moment;
    value.writer = writer;
    value.path = path;
    if (value.releases.delete(writer)) value.returners.add(writer);
    this.#values.set(key, value);
  }
}

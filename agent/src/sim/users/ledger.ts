import { isBelow } from '@lockstep/shared';
import { type Content, isZeros } from '../disk/content.ts';
import type { Inode } from '../disk/inode.ts';

/** The identity of a file's content or a link's target. */
export type ValueKey = string;

const movedOut = 'moved out of the folder';

/** A value that a user wrote. */
export interface Value {
  readonly key: ValueKey;
  /** A short name for the story: `v12`. */
  readonly name: string;
  writer: string;
  path: string;
  /**
   * Users who released it, and how: each overwrote or deleted it on a disk that showed it. A user who brings it back only revokes their own
   * release: other users do not notice that the file was gone.
   */
  readonly releases: Map<string, string>;
  /** Users who brought it back after they had released it. */
  readonly returners: Set<string>;
  /** How often a user released it, brought back or not. */
  timesReleased: number;
  /** How often a user wrote it over itself: it was missing for a moment, and its bytes may only be in memory since. */
  timesRewritten: number;
  /** The moment at which it was last written or brought back. */
  owedSince: number;
}

/** The value at a name. Undefined for directories and empty files. */
export function valueAt(inode: Inode | undefined): ValueKey | undefined {
  if (inode?.type === 'symlink') return `link:${inode.target}`;
  return inode?.content !== undefined && inode.content.size > 0 ? inode.content.id : undefined;
}

/** The target of the link that has this value. Undefined for a file's content. */
export function linkTarget(key: ValueKey): string | undefined {
  return key.startsWith('link:') ? key.slice('link:'.length) : undefined;
}

/**
 * Everything that users wrote, and what users did to it since: the expected side of the rules Keep and Atomic, independent of the engine. A
 * value is owed until a user overwrites or deletes it on a disk that shows it.
 */
export class Ledger {
  readonly #values = new Map<ValueKey, Value>();
  readonly #written = new Set<ValueKey>();
  readonly #gone = new Set<ValueKey>();
  /** Values whose mode, time or name a user changed: such an edit wins over a delete. */
  readonly #touched = new Set<ValueKey>();
  readonly #contested = new Set<string>();
  /** Values that a power cut moved back to an earlier name, or removed from a name at which they were written again. */
  readonly #movedBack = new Set<ValueKey>();
  /** Values whose conflict copy was undone, and not the end of their conflict. */
  readonly #copyLost = new Set<ValueKey>();
  /** Values that a user brought back, and whose member deletes them again, because a set-back undid that. */
  readonly #deletedAgain = new Set<ValueKey>();
  #count = 0;
  #moment = 0;

  /** Increases with each value that is written or brought back. */
  get moment(): number {
    return this.#moment;
  }

  /** A new, unique name. */
  nextName(): string {
    this.#count += 1;
    return `v${this.#count}`;
  }

  /** Records that a user gave a file this content, as a final or an intermediate state. */
  wrote(writer: string, path: string, name: string, content: Content): void {
    this.#written.add(content.id);
    // Only power cuts make zeros here. If a user writes them again, an agent still takes them for the effect of a power cut [PC2].
    if (content.size > 0 && !isZeros(content)) this.#owe(content.id, name, writer, path);
  }

  /** Records content that a power cut left of a user's write. */
  tore(content: Content): void {
    this.#written.add(content.id);
  }

  /** Records that a user created a symbolic link. */
  linked(writer: string, path: string, name: string, target: string): void {
    this.#owe(`link:${target}`, name, writer, path);
  }

  /** Records that a user moved or copied a value, or brought it back. */
  copied(writer: string, path: string, key: ValueKey | undefined): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value !== undefined) this.#owe(value.key, value.name, writer, path);
    // A user who moves content left by a power cut becomes its author.
    else if (key !== undefined) this.#written.add(key);
  }

  /** Records that a user who saw this value overwrote or deleted it. */
  release(key: ValueKey | undefined, who: string, how: string): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value === undefined) return;
    value.releases.set(who, how);
    value.timesReleased += 1;
  }

  /** Records that a user moved a value out of the folder. Their other actions on it still count once it is back. */
  movedOut(key: ValueKey | undefined, who: string): void {
    const releases = key === undefined ? undefined : this.#values.get(key)?.releases;
    this.release(key, who, releases?.get(who) ?? movedOut);
  }

  /** Records that a user moved a directory out of the folder. An agent that has it open puts values there that were on their way. */
  movedOutBelow(directory: string, who: string): void {
    for (const { key, path } of this.#values.values()) if (isBelow(path, directory)) this.movedOut(key, who);
  }

  /** Records that a user moved a value back to its name: if that was quick, no agent can have noticed. */
  putBack(user: string, path: string, key: ValueKey | undefined): void {
    const how = key === undefined ? undefined : this.#values.get(key)?.releases.get(user);
    if (how === undefined || how === movedOut) this.copied(user, path, key);
  }

  /** Releases values that a user had brought back, and that are not among `left` after a power cut or set-back. */
  tookBack(user: string, left: ReadonlySet<ValueKey>): void {
    for (const { key, returners } of this.#values.values()) {
      if (returners.has(user) && !left.has(key)) this.release(key, user, 'brought back, and that was undone');
    }
  }

  /** Records that a power cut undid the rename or the last write of this value. */
  movedBack(key: ValueKey): void {
    this.#movedBack.add(key);
  }

  /** Records that a set-back undid the last copy of this value, while another member knows that its conflict is settled. */
  copyLost(key: ValueKey): void {
    this.#copyLost.add(key);
  }

  /** Records that a set-back undid the return of this value, which another member knows: its member deletes it again. */
  deletedAgain(key: ValueKey): void {
    this.#deletedAgain.add(key);
  }

  /**
   * True for a value that is owed, and may be in the history alone. A power cut moved it back to a name, so that an agent may take it for a
   * version replaced there [PC2]; or no member knows its copy any more; or a later delete names its content, so that it gets no copy [CF3].
   */
  mayBeInHistory(key: ValueKey): boolean {
    return this.#movedBack.has(key) || this.#copyLost.has(key) || this.#deletedAgain.has(key);
  }

  /** Records that its only user deleted it: nothing may bring it back. */
  removedForGood(key: ValueKey): void {
    this.#gone.add(key);
  }

  /** True for a value that must not exist any more. */
  isGone(key: ValueKey): boolean {
    const path = this.#values.get(key)?.path ?? '';
    return this.#gone.has(key) && !this.#touched.has(key) && !this.#contested.has(path);
  }

  /** The last user that wrote a value or brought it back. */
  writerOf(key: ValueKey): string | undefined {
    return this.#values.get(key)?.writer;
  }

  /** Records that a user created a file at a path where others may have one: the entry there can get a conflict copy. */
  contested(path: string): void {
    this.#contested.add(path);
  }

  /** Records that a user changed the mode, time or name of a file with this value. */
  touched(key: ValueKey | undefined): void {
    if (key !== undefined) this.#touched.add(key);
  }

  /** Records that a user renamed this directory: an agent that has it open may put a value there, under a path that no other member has. */
  touchedBelow(directory: string): void {
    for (const { key, path } of this.#values.values()) if (isBelow(path, directory)) this.touched(key);
  }

  /** Records that a user wrote this value in place over itself. */
  rewrote(key: ValueKey): void {
    const value = this.#values.get(key);
    if (value !== undefined) value.timesRewritten += 1;
  }

  /** True if a user wrote exactly this content. */
  isWritten(content: Content): boolean {
    return content.size === 0 || this.#written.has(content.id);
  }

  /** The moment since which a value is unchanged. Undefined once a user released it, or wrote it over itself. */
  untouchedSince(key: ValueKey): number | undefined {
    const value = this.#values.get(key);
    return value?.timesReleased === 0 && value.timesRewritten === 0 ? value.owedSince : undefined;
  }

  /** The values that a user released and has not brought back. */
  releasedBy(user: string): ReadonlySet<ValueKey> {
    return new Set([...this.#values.values()].filter(({ releases }) => releases.has(user)).map(({ key }) => key));
  }

  /** Every value that must still exist. */
  owed(): readonly Value[] {
    return [...this.#values.values()].filter(({ releases }) => releases.size === 0);
  }

  isOwed(key: ValueKey): boolean {
    return this.#values.get(key)?.releases.size === 0;
  }

  /** The name of a value in the story. */
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

import type { Content } from './content.ts';
import type { Inode } from './disk.ts';

/** What a file's bytes or a link's text are known by. */
export type ValueKey = string;

/** A value that some user wrote. */
export interface Value {
  readonly key: ValueKey;
  /** Short, for people: `v12`. */
  readonly name: string;
  writer: string;
  path: string;
  /** Why it need not exist any more: a user who had it before their eyes overwrote or deleted it, or its only copy was destroyed. */
  released?: string | undefined;
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
  #count = 0;

  /** A name that no other value has. */
  nextName(): string {
    this.#count += 1;
    return `v${this.#count}`;
  }

  /** A user made the file's content this, whole or as a step on the way. */
  wrote(writer: string, path: string, name: string, content: Content): void {
    this.#written.add(content.id);
    if (content.size > 0) this.#owe({ key: content.id, name, writer, path });
  }

  /** A user made a symbolic link. */
  linked(writer: string, path: string, name: string, target: string): void {
    this.#owe({ key: `link:${target}`, name, writer, path });
  }

  /** A user brought a value to another place: it is owed there, whoever else lets go of it elsewhere before. */
  copied(writer: string, path: string, key: ValueKey | undefined): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value !== undefined) this.#owe({ ...value, writer, path, released: undefined });
  }

  /** A user overwrote or deleted this value, having it before their eyes. */
  release(key: ValueKey | undefined, why: string): void {
    const value = key === undefined ? undefined : this.#values.get(key);
    if (value !== undefined && value.released === undefined) value.released = why;
  }

  /** True when some user wrote exactly this content. */
  isWritten(content: Content): boolean {
    return content.size === 0 || this.#written.has(content.id);
  }

  isOwed(key: ValueKey): boolean {
    const value = this.#values.get(key);
    return value !== undefined && value.released === undefined;
  }

  /** Every value that must still exist. */
  owed(): readonly Value[] {
    return [...this.#values.values()].filter(({ released }) => released === undefined);
  }

  /** The value's name, for people. */
  nameOf(key: ValueKey | undefined): string {
    if (key === undefined) return 'nothing';
    return this.#values.get(key)?.name ?? key.slice(0, 12);
  }

  #owe(value: Value): void {
    this.#values.set(value.key, value);
  }
}

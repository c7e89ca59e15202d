import type { LoggedOperation } from '@lockstep/shared/api';
import { directoryOf, type OperationItem } from './operation-item.ts';

/** From this number of lines on, those of one member in one directory are one line. */
export const floodLinesMin = 5;
/** The longest time between the first and the last operation of one line. */
export const floodMs = 600_000;
/** The most operations of one line: the next one begins another, so that the newest line of a long flood is near the top. */
export const floodOperationsMax = 1_000;

interface Flood {
  readonly startAt: number;
  /** The lines so far; only the first one after they were joined. */
  items: readonly OperationItem[];
}

/**
 * Finds floods: many operations of one member in one directory within some minutes, at whatever rate they come, and with operations of
 * others between them. Renames are no part of a flood, because each has its own former name.
 */
export class FloodList {
  readonly #floods = new Map<string, Flood>();

  /** The line of the flood to which `operation` belongs. */
  lineFor(operation: LoggedOperation): OperationItem | undefined {
    const item = this.#openFor(operation)?.items[0];
    return item?.isFlood === true ? item : undefined;
  }

  /** Notes `item`, a new line for `operation`. Returns the lines that have become a flood: the first takes the others' operations. */
  note(item: OperationItem, operation: LoggedOperation): readonly OperationItem[] {
    const key = keyOf(operation);
    if (key === undefined) return [];
    const flood = this.#openFor(operation);
    if (flood === undefined) {
      // A flood that continues after a full line needs no other beginning.
      item.isFlood = this.#isContinued(key, operation);
      this.#floods.set(key, { startAt: operation.journaledAt, items: [item] });
      return [];
    }
    // A group that grew into other directories stays a line of its own.
    flood.items = [...flood.items, item].filter(({ directory }) => directory !== null);
    if (flood.items.length < floodLinesMin) return [];
    const joined = flood.items;
    flood.items = joined.slice(0, 1);
    return joined;
  }

  /** Forgets the floods whose first line is gone: it is older than row `first`. */
  forgetBefore(first: number): void {
    for (const [key, { items }] of this.#floods) if ((items[0]?.row ?? 0) < first) this.#floods.delete(key);
  }

  clear(): void {
    this.#floods.clear();
  }

  #openFor(operation: LoggedOperation): Flood | undefined {
    const key = keyOf(operation);
    const flood = key === undefined ? undefined : this.#floods.get(key);
    const isOpen = flood !== undefined && operation.journaledAt - flood.startAt <= floodMs && !isFull(flood);
    return isOpen ? flood : undefined;
  }

  #isContinued(key: string, { journaledAt }: LoggedOperation): boolean {
    const before = this.#floods.get(key);
    return before !== undefined && isFull(before) && journaledAt - before.startAt <= floodMs;
  }
}

function isFull({ items: [first] }: Flood): boolean {
  return first?.isFlood === true && first.operations.length >= floodOperationsMax;
}

/** Operations that settled conflicts form a flood of their own: a person would not see them among other changes. */
function keyOf({ member, path, from, kind, conflict }: LoggedOperation): string | undefined {
  if (from !== undefined || kind === 'member') return undefined;
  return [member, directoryOf(path), conflict === undefined ? '' : 'conflict'].join('\n');
}

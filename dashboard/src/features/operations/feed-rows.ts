import type { LoggedOperation } from '@lockstep/shared/api';
import { type OperationItem, placeOf } from '../../parts/operations/operation-item.ts';
import type { OperationList } from '../../parts/operations/operation-list.ts';

/** One line of the list: an item, or one operation of an open group. */
export type FeedRow =
  | { readonly type: 'item'; readonly item: OperationItem; readonly shown: readonly LoggedOperation[] | undefined }
  | { readonly type: 'member'; readonly operation: LoggedOperation };

/** The lines of the feed, newest first. Each is computed on request: most are never shown. */
export class FeedRows {
  readonly count: number;
  readonly #items: readonly OperationItem[];
  /** The open groups from the newest to the oldest: the line of their item, and the operations that follow it. */
  readonly #open: readonly { readonly line: number; readonly shown: readonly LoggedOperation[] }[];

  /** `open`: the rows of the open groups' items. */
  constructor(list: OperationList, open: ReadonlySet<number>) {
    this.#items = list.visible;
    const found: { line: number; shown: readonly LoggedOperation[] }[] = [];
    let opened = 0;
    for (const row of [...open].sort((a, b) => b - a)) {
      const index = placeOf(this.#items, row);
      const item = this.#items[index];
      if (item?.row !== row || item.operations.length < 2) continue;
      const shown = list.shownOf(item);
      found.push({ line: this.#items.length - 1 - index + opened, shown });
      opened += shown.length;
    }
    this.#open = found;
    this.count = this.#items.length + opened;
  }

  at(line: number): FeedRow | undefined {
    let inserted = 0;
    for (const { line: start, shown } of this.#open) {
      if (line < start) break;
      if (line === start) return this.#item(line - inserted, shown);
      const operation = shown[line - start - 1];
      if (operation !== undefined) return { type: 'member', operation };
      inserted += shown.length;
    }
    return this.#item(line - inserted, undefined);
  }

  #item(place: number, shown: readonly LoggedOperation[] | undefined): FeedRow | undefined {
    const item = this.#items[this.#items.length - 1 - place];
    return item && { type: 'item', item, shown };
  }
}

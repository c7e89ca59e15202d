import type { TreeEntry } from '@lockstep/shared/api';
import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';

/** The rows of a table, of which one has the focus. */
export interface FocusableRows {
  readonly entries: readonly TreeEntry[];
  /** The number of rows to reserve: at least the number of entries. */
  readonly rows: number;
  /** Path of the entry that the panel shows. */
  readonly chosen: string;
  /** Goes to the parent directory. */
  readonly up: () => void;
  /** The path to focus once its row exists, or '' for the first row; reset to undefined when done. */
  readonly focusOn: RefObject<string | undefined>;
}

/** The one row that Tab reaches, and the handlers of all rows. */
interface RowFocus {
  readonly tabRow: number | undefined;
  readonly onKeyDown: (event: KeyboardEvent, row: number) => void;
  readonly onFocus: (row: number) => void;
}

/** Moves the focus from row to row with the keys, also to rows that do not exist yet, and scrolls the chosen one into sight. */
export function useRowFocus(
  { entries, rows, chosen, up, focusOn }: FocusableRows,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
): RowFocus {
  const items = virtualizer.getVirtualItems();
  const focusRow = useRef<number>(undefined);
  const [active, setActive] = useState(0);

  const goTo = (row: number): void => {
    const target = Math.max(0, Math.min(rows - 1, row));
    focusRow.current = target;
    setActive(target);
    virtualizer.scrollToIndex(target);
  };

  useEffect(() => {
    if (focusOn.current !== undefined && entries.length > 0) {
      const path = focusOn.current;
      focusOn.current = undefined;
      goTo(entries.findIndex((entry) => entry.path === path));
    }
    // The row may not exist yet: it comes with a later rendering.
    const link = virtualizer.scrollElement?.querySelector<HTMLElement>(`[data-row="${focusRow.current}"]`);
    if (link == null) return;
    focusRow.current = undefined;
    link.focus({ preventScroll: true });
  });

  // The row of the entry in the panel is scrolled into sight, for a user who comes by a link or from a search.
  const shownFor = useRef<string>(undefined);
  useEffect(() => {
    if (shownFor.current === chosen) return;
    const row = entries.findIndex(({ path }) => path === chosen);
    if (row < 0) return;
    shownFor.current = chosen;
    setActive(row);
    virtualizer.scrollToIndex(row);
  }, [chosen, entries, virtualizer]);

  const pageRows = Math.max(1, items.length - 20);
  const onKeyDown = (event: KeyboardEvent, row: number): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const moves: Record<string, number> = {
      ArrowDown: row + 1,
      ArrowUp: row - 1,
      PageDown: row + pageRows,
      PageUp: row - pageRows,
      Home: 0,
      End: rows - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) goTo(to);
    else if (event.key === 'Backspace') up();
    // The link itself opens the directory; the focus follows into it.
    else if (event.key === 'Enter' && entries[row]?.type === 'directory') focusOn.current = '';
    if (to !== undefined || event.key === 'Backspace') event.preventDefault();
  };

  const tabRow = items.some(({ index }) => index === active) ? active : items.at(0)?.index;
  return { tabRow, onKeyDown, onFocus: setActive };
}

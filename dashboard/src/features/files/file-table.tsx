import type { TreeEntry } from '@lockstep/shared/api';
import { UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { FileRow } from './file-row.tsx';
import classes from './file-table.module.css';
import { nextOrder, type Order } from './order.ts';
import { type FocusableRows, useRowFocus } from './use-row-focus.ts';

/** The same as in the style sheet. */
const headHeightPx = 38;

interface Props extends FocusableRows {
  readonly label: string;
  /** Called when row number `row` is about to come into sight. */
  readonly want?: (row: number) => void;
  readonly linkOf: (entry: TreeEntry) => string;
  /** Shows the directory of each entry: the entries are from more than one. */
  readonly withDirectory?: boolean;
  /** The entries were deleted. */
  readonly isDeleted?: boolean;
  /** Only the name and the holders have columns; the rest is below the name. */
  readonly isCompact: boolean;
  /** The order, and how to change it; undefined where it is fixed. */
  readonly sort?: { readonly order: Order; readonly by: (order: Order) => void } | undefined;
}

/** The titles of the columns, and the orders by which they sort. */
const columnsWide = [
  ['Name', 'name'],
  ['Size', 'size'],
  ['Written by', undefined],
  ['When', 'time'],
  ['Held by', undefined],
] as const;
const columnsCompact = [
  ['Name', 'name'],
  ['Held by', undefined],
] as const;
/** A deleted entry has no holders. */
const columnsDeleted = [
  ['Name', 'name'],
  ['Size', 'size'],
  ['Deleted by', undefined],
  ['When', 'time'],
] as const;
const columnsDeletedCompact = [['Name', 'name']] as const;

/** A table with one entry in each row; only the rows in sight exist. Arrow keys go from row to row, and Backspace goes up. */
export function FileTable(props: Props) {
  const { label, entries, rows, want, chosen, linkOf, withDirectory = false, isCompact, up, focusOn, sort } = props;
  const { isDeleted = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isCompact || withDirectory ? 56 : 42),
    overscan: 10,
    paddingStart: headHeightPx,
    scrollPaddingStart: headHeightPx,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of the rows depends on it
  useEffect(() => virtualizer.measure(), [isCompact]);
  const items = virtualizer.getVirtualItems();
  const [firstItem, lastItem] = [items.at(0), items.at(-1)];
  const lastRow = lastItem?.index ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page of entries may end above the rows in sight
  useEffect(() => want?.(lastRow), [want, lastRow, entries.length]);

  const focus = useRowFocus({ entries, rows, chosen, up, focusOn }, virtualizer);
  const columns = columnsOf(isCompact, isDeleted);
  return (
    <div ref={scroller} className={classes.scroller}>
      <table
        className={classes.table}
        aria-label={label}
        aria-rowcount={rows + 1}
        data-compact={isCompact || undefined}
      >
        <Head columns={columns} sort={sort} />
        <Spacer height={(firstItem?.start ?? headHeightPx) - headHeightPx} columns={columns.length} />
        <tbody>
          {items.map(({ index, size }) => {
            const entry = entries[index];
            return (
              <FileRow
                key={entry?.path ?? index}
                entry={entry}
                row={index}
                height={size}
                isCompact={isCompact}
                isChosen={entry?.path === chosen}
                withDirectory={withDirectory}
                href={entry === undefined ? '' : linkOf(entry)}
                tabIndex={index === focus.tabRow ? 0 : -1}
                onKeyDown={focus.onKeyDown}
                onFocus={focus.onFocus}
              />
            );
          })}
        </tbody>
        <Spacer height={virtualizer.getTotalSize() - (lastItem?.end ?? 0)} columns={columns.length} />
      </table>
    </div>
  );
}

/** The titles of the columns; those that can be sorted are buttons. */
function Head({ columns, sort }: { readonly columns: ReturnType<typeof columnsOf>; readonly sort: Props['sort'] }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map(([title, by]) => (
          <th key={title} scope="col" aria-sort={by && sort && ariaSortOf(by, sort.order)}>
            {by === undefined || sort === undefined ? (
              title
            ) : (
              <UnstyledButton
                className={classes.sort}
                data-current={sort.order.endsWith(by) || undefined}
                onClick={() => sort.by(nextOrder(sort.order, by))}
              >
                {title}
                {sort.order.endsWith(by) && <SortIcon ascending={ariaSortOf(by, sort.order) === 'ascending'} />}
              </UnstyledButton>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function columnsOf(isCompact: boolean, isDeleted: boolean) {
  if (isDeleted) return isCompact ? columnsDeletedCompact : columnsDeleted;
  return isCompact ? columnsCompact : columnsWide;
}

/** Sizes and times begin with the largest and the newest. */
function ariaSortOf(column: 'name' | 'size' | 'time', order: Order): 'ascending' | 'descending' | 'none' {
  if (!order.endsWith(column)) return 'none';
  return (column === 'name') === (order === column) ? 'ascending' : 'descending';
}

function SortIcon({ ascending }: { readonly ascending: boolean }) {
  const Arrow = ascending ? IconArrowUp : IconArrowDown;
  return <Arrow size={14} aria-hidden="true" />;
}

/** Takes the space of the rows that are out of sight. */
function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr>
        <td colSpan={columns} className={classes.spacer} style={{ height }} />
      </tr>
    </tbody>
  );
}

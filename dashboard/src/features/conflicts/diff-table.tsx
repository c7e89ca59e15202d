import { formatItems } from '@lockstep/shared/present';
import { VisuallyHidden } from '@mantine/core';
import { useMemo } from 'react';
import classes from './diff-table.module.css';
import { type DiffLine, type DiffRow, differInEndingsOnly, diffRows } from './text-diff.ts';

/** More rows than this are slow to draw, and too many to read. */
const rowsMax = 2_000;

/** Two texts side by side, line by line; on a narrow screen one below the other. */
export function DiffTable({
  left,
  right,
  names,
}: {
  readonly left: string;
  readonly right: string;
  /** The titles of the left and the right version. */
  readonly names: readonly [string, string];
}) {
  const rows = useMemo(() => diffRows(left, right), [left, right]);
  if (differInEndingsOnly(left, right)) {
    return <p className={classes.note}>Both versions have the same text; only the line endings differ.</p>;
  }
  if (rows === undefined) return <p className={classes.note}>These versions differ too much to compare them here.</p>;
  if (rows.every(({ kind }) => kind !== 'changed')) {
    return <p className={classes.note}>Both versions have the same lines.</p>;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable part must be reachable by keyboard
    <section className={classes.diff} aria-label="The two versions, line by line" tabIndex={0}>
      {rows.slice(0, rowsMax).map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one comparison never move
        <Row key={index} row={row} names={names} />
      ))}
      {rows.length > rowsMax && (
        <div className={classes.gap}>and {formatItems(rows.length - rowsMax, 'more line')}</div>
      )}
    </section>
  );
}

function Row({ row, names }: { readonly row: DiffRow; readonly names: readonly [string, string] }) {
  if (row.kind === 'gap') return <div className={classes.gap}>{formatItems(row.lines, 'identical line')}</div>;
  const isChanged = row.kind === 'changed';
  return (
    <div className={classes.row} data-kind={row.kind}>
      <Line line={row.left} side="left" only={isChanged ? names[0] : undefined} />
      <Line line={row.right} side="right" only={isChanged ? names[1] : undefined} />
    </div>
  );
}

function Line({
  line,
  side,
  only,
}: {
  readonly line: DiffLine | undefined;
  readonly side: 'left' | 'right';
  readonly only: string | undefined;
}) {
  if (line === undefined) return <div className={classes.line} data-side={side} data-empty />;
  return (
    <div className={classes.line} data-side={side} data-only={only !== undefined || undefined}>
      <span className={classes.number} aria-hidden="true">
        {line.number}
      </span>
      <span className={classes.sign} aria-hidden="true">
        {only !== undefined && (side === 'left' ? '−' : '+')}
      </span>
      {only !== undefined && <VisuallyHidden>only in {only}: </VisuallyHidden>}
      <span className={classes.text}>{line.text || ' '}</span>
    </div>
  );
}

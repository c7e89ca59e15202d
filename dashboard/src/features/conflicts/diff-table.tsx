import { formatItems } from '@lockstep/shared/present';
import { Fragment, useMemo } from 'react';
import { Line } from './diff-line.tsx';
import classes from './diff-table.module.css';
import { markLines, plainLine, type ShownPair } from './line-marks.ts';
import type { DiffRow } from './text-diff.ts';

/** More rows than this are slow to draw, and too many to read. */
export const rowsMax = 2_000;

/** Two texts side by side, line by line; on a narrow screen one below the other. Words that differ within a line are marked. */
export function DiffTable({
  rows,
  names,
  choice,
}: {
  readonly rows: readonly DiffRow[];
  /** The titles of the left and the right version. */
  readonly names: readonly [string, string];
  /** The control above each place at which the texts differ. */
  readonly choice?: ((place: number) => React.ReactNode) | undefined;
}) {
  const shown = rows.slice(0, rowsMax);
  const { pairs, unmarked } = useMemo(() => markLines(rows.slice(0, rowsMax), () => performance.now()), [rows]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable part must be reachable by keyboard */}
      <section className={classes.diff} aria-label="The two versions, line by line" tabIndex={0}>
        {shown.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one comparison never move
          <Fragment key={index}>
            {row.kind === 'changed' && row.place !== undefined && choice?.(row.place)}
            <Row row={row} pair={pairs.get(index)} names={names} />
          </Fragment>
        ))}
        {rows.length > rowsMax && (
          <div className={classes.gap}>and {formatItems(rows.length - rowsMax, 'more line')}</div>
        )}
      </section>
      {unmarked > 0 && (
        <p className={classes.note}>
          In {formatItems(unmarked, 'long line', 'long lines')} the words that differ are not marked.
        </p>
      )}
    </>
  );
}

function Row({
  row,
  pair,
  names,
}: {
  readonly row: DiffRow;
  readonly pair: ShownPair | undefined;
  readonly names: readonly [string, string];
}) {
  if (row.kind === 'gap') return <div className={classes.gap}>{formatItems(row.lines, 'identical line')}</div>;
  const { left, right } = row;
  const isChanged = row.kind === 'changed';
  const showsEnding = isChanged && left !== undefined && right !== undefined && left.ending !== right.ending;
  return (
    <div className={classes.row} data-kind={row.kind}>
      <Line
        line={left}
        shown={pair?.left ?? (left && plainLine(left.text, right?.text))}
        side="left"
        only={isChanged ? names[0] : undefined}
        showsEnding={showsEnding}
      />
      <Line
        line={right}
        shown={pair?.right ?? (right && plainLine(right.text, left?.text))}
        side="right"
        only={isChanged ? names[1] : undefined}
        showsEnding={showsEnding}
      />
    </div>
  );
}

import { formatItems } from '@lockstep/shared/present';
import { Text } from '@mantine/core';
import { useId } from 'react';
import { ShownText } from './diff-line.tsx';
import classes from './diff-table.module.css';
import { plainLine } from './line-marks.ts';
import type { ResultLine } from './pick-lines.ts';

/** More lines than this are slow to draw after each choice. */
const linesMax = 2_000;

/** The text that picked lines make, as it will be saved. */
export function ResultPreview({
  lines,
  names: [left, right],
}: {
  readonly lines: readonly ResultLine[];
  readonly names: readonly [string, string];
}) {
  const title = useId();
  return (
    <div>
      <Text fw={600} id={title} mb={4}>
        The result: {formatItems(lines.length, 'line')}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable part must be reachable by keyboard */}
      <section className={classes.diff} aria-labelledby={title} tabIndex={0}>
        {lines.slice(0, linesMax).map(({ text, from }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name
          <div key={index} className={classes.line} data-side={from} data-only={from !== 'both' || undefined}>
            <span className={classes.number} aria-hidden="true">
              {index + 1}
            </span>
            <span />
            <span className={classes.text}>
              <ShownText line={plainLine(text, undefined)} />
              {from !== 'both' && from !== lines[index - 1]?.from && (
                <span className={classes.tag}>from {from === 'left' ? left : right}</span>
              )}
            </span>
          </div>
        ))}
        {lines.length > linesMax && (
          <div className={classes.gap}>and {formatItems(lines.length - linesMax, 'more line')}</div>
        )}
      </section>
    </div>
  );
}

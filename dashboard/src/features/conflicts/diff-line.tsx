import { formatCount } from '@lockstep/shared/present';
import { VisuallyHidden } from '@mantine/core';
import classes from './diff-table.module.css';
import type { ShownLine } from './line-marks.ts';
import type { DiffLine, LineEnding } from './text-diff.ts';

const endings: Record<LineEnding, string> = { '\n': 'LF', '\r\n': 'CRLF', '': 'no line break' };

/** One line of one version, or the empty place next to a line that only the other version has. */
export function Line({
  line,
  shown,
  side,
  only,
  showsEnding,
}: {
  readonly line: DiffLine | undefined;
  readonly shown: ShownLine | undefined;
  readonly side: 'left' | 'right';
  /** The title of the version, if only that one has the line. */
  readonly only: string | undefined;
  /** True if the line ends otherwise than the one next to it. */
  readonly showsEnding: boolean;
}) {
  if (line === undefined || shown === undefined) return <div className={classes.line} data-side={side} data-empty />;
  return (
    <div className={classes.line} data-side={side} data-only={only !== undefined || undefined}>
      <span className={classes.number} aria-hidden="true">
        {line.number}
      </span>
      <span className={classes.sign} aria-hidden="true">
        {only !== undefined && (side === 'left' ? '−' : '+')}
      </span>
      {only !== undefined && <VisuallyHidden>only in {only}: </VisuallyHidden>}
      <span className={classes.text}>
        <ShownText line={shown} />
        {showsEnding && <span className={classes.tag}>{endings[line.ending]}</span>}
      </span>
    </div>
  );
}

/** The text of a line, with its marks; of a long one, the shown part. */
export function ShownText({ line: { pieces, before, after } }: { readonly line: ShownLine }) {
  return (
    <>
      {before > 0 && <Omitted characters={before} />}
      {pieces.map(({ text, only }, index) =>
        only ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one line never move
          <mark key={index} className={classes.mark}>
            <VisuallyHidden>[changed: </VisuallyHidden>
            <Visible text={text} />
            <VisuallyHidden>]</VisuallyHidden>
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one line never move
          <Visible key={index} text={text || ' '} />
        ),
      )}
      {after > 0 && <Omitted characters={after} />}
    </>
  );
}

/** A text in which a byte order mark, which is invisible, is named. */
function Visible({ text }: { readonly text: string }) {
  if (!text.startsWith('\uFEFF')) return text;
  return (
    <>
      <span className={classes.tag}>BOM</span>
      {text.slice(1)}
    </>
  );
}

function Omitted({ characters }: { readonly characters: number }) {
  return <span className={classes.tag}>… {formatCount(characters)} characters …</span>;
}

import type { MemberReport } from '@lockstep/shared/api';
import {
  describeFigure,
  describeWay,
  type Matrix,
  roundTrip,
  shortFigure,
  shortWay,
  type Way,
} from '@lockstep/shared/present';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { type KeyboardEvent, memo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { pairLink } from '../../parts/links.ts';
import { heatOf } from './latency-heat.ts';
import classes from './latency-table.module.css';

/** More members than this get narrow columns with vertical names. */
export const wideMax = 12;

const steps: Record<string, readonly [row: number, column: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

interface Chosen {
  readonly from: string | null;
  readonly to: string | null;
}

interface Reports {
  /** The members as the agent reported them, also those that are silent. */
  readonly members: readonly MemberReport[];
  readonly now: number;
}

/** The heat map: a grid in which the arrow keys go from cell to cell, and each cell links to the last hour of its pair. */
export function LatencyTable({
  matrix,
  reports,
  chosen,
}: {
  readonly matrix: Matrix;
  readonly reports: Reports;
  readonly chosen: Chosen;
}) {
  const known = new Map(reports.members.map((member) => [member.id, member]));
  const { members, rows } = matrix;
  const table = useRef<HTMLTableElement>(null);
  const indexOf = (id: string | null): number => members.findIndex((member) => member.id === id);
  const [[row, column], setPlace] = useState<readonly [number, number]>(() => {
    const place = [indexOf(chosen.from), indexOf(chosen.to)] as const;
    return Math.min(...place) < 0 ? [0, 1] : place;
  });

  /** Moves the focus to the next cell in this direction that has a link. */
  const go = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const last = members.length - 1;
    let place = [row + step[0], column + step[1]] as const;
    if (place[0] === place[1]) place = [place[0] + step[0], place[1] + step[1]];
    if (Math.min(...place) < 0 || Math.max(...place) > last) return;
    table.current?.rows[place[0] + 1]?.cells[place[1] + 1]?.querySelector('a')?.focus();
  };

  return (
    <table
      ref={table}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the arrow keys go from cell to cell, as in a grid
      role="grid"
      className={classes.table}
      data-dense={members.length > wideMax || undefined}
      aria-label="Round trips: from the member in the row to the member in the column"
      onKeyDown={go}
    >
      <thead>
        <tr>
          <td className={classes.corner}>from ↓ to →</td>
          {members.map(({ id, name }) => (
            <th key={id} scope="col" title={name}>
              <span>{name}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {members.map((from, rowIndex) => (
          <tr key={from.id}>
            <th scope="row" title={from.name}>
              <span>{from.name}</span>
              {from.self && <small>this machine</small>}
            </th>
            {members.map((to, columnIndex) => {
              const way = rows[rowIndex]?.[columnIndex] ?? { kind: 'unknown' };
              const { kind, figure } = shownIn(way, known.get(from.id) ?? from, known.get(to.id) ?? to, reports);
              return (
                <Cell
                  key={to.id}
                  kind={kind}
                  heat={figure && heatOf(figure.rttMs)}
                  isStale={figure?.staleMs !== undefined}
                  words={figure === undefined ? describeWay(way) : describeFigure(figure)}
                  short={figure === undefined ? shortWay(way) : shortFigure(figure)}
                  between={`${from.name} to ${to.name}`}
                  href={pairLink(from.id, to.id)}
                  isDense={members.length > wideMax}
                  isChosen={from.id === chosen.from && to.id === chosen.to}
                  isReached={rowIndex === row && columnIndex === column}
                  row={rowIndex}
                  column={columnIndex}
                  setPlace={setPlace}
                />
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A silent member's last figures are shown too, as stale: the matrix itself does not count them. */
function shownIn(way: Way, from: MemberReport, to: MemberReport, { now, members }: Reports) {
  const figure = way.kind === 'known' || way.kind === 'unknown' ? roundTrip({ from, to, members }, now) : undefined;
  return { kind: figure === undefined ? way.kind : 'known', figure };
}

interface CellProps {
  readonly kind: Way['kind'];
  /** Undefined without a round trip. */
  readonly heat: number | undefined;
  readonly isStale: boolean;
  readonly words: string;
  readonly short: string;
  readonly between: string;
  readonly href: string;
  readonly isDense: boolean;
  readonly isChosen: boolean;
  /** Whether the Tab key reaches this cell; the arrow keys reach all others. */
  readonly isReached: boolean;
  readonly row: number;
  readonly column: number;
  readonly setPlace: (place: readonly [number, number]) => void;
}

/** One cell. Only changed cells render again: fifty members have 2,500 of them, and every status may change some. */
const Cell = memo(function Cell(props: CellProps) {
  const { kind, heat, isStale, words, short, between, href, isDense, isChosen, isReached, row, column, setPlace } =
    props;
  if (kind === 'self') {
    return (
      <td className={classes.self}>
        <span className={classes.hidden}>itself</span>
      </td>
    );
  }
  return (
    <td data-kind={kind} data-heat={isStale ? undefined : heat} data-stale={isStale || undefined}>
      <Link
        href={href}
        tabIndex={isReached ? 0 : -1}
        onFocus={() => setPlace([row, column])}
        aria-label={`${between}: ${words}`}
        aria-current={isChosen || undefined}
        title={`${between}: ${words}`}
      >
        <Content kind={kind} words={short} isDense={isDense} />
      </Link>
    </td>
  );
});

function Content({ kind, words, isDense }: { kind: Way['kind']; words: string; isDense: boolean }) {
  if (kind === 'known') return isDense ? words.replace(' ms', '') : words;
  if (kind === 'away') return isDense ? '–' : words;
  if (kind !== 'cut') return '?';
  return (
    <>
      <IconPlugConnectedX size={16} aria-hidden="true" />
      {!isDense && words}
    </>
  );
}

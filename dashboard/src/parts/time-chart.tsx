import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { minuteTime } from './time-formats.ts';
import 'uplot/dist/uPlot.min.css';
import classes from './time-chart.module.css';

const heightUsual = 220;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayOnly = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const dayMs = 86_400_000;
const clockToMinutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
/** The possible steps between marks on the time axis, in seconds. */
const timeStepsS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];

interface Props {
  /** The chart in words, with its main figures, for screen readers. */
  readonly summary: string;
  /** Milliseconds since the epoch, oldest first; the line ends at the last. */
  readonly at: readonly number[];
  /** null: nothing was measured, and there is a gap in the line. */
  readonly values: readonly (number | null)[];
  /** The width of the time axis, in milliseconds. */
  readonly spanMs: number;
  readonly format: (value: number) => string;
  /** The times to mark as without a value, and the word for them. */
  /** A second, thinner line: the highest value at each moment. */
  readonly peaks?: readonly (number | null)[];
  readonly gaps: readonly (readonly [from: number, to: number])[];
  readonly gapWord: string;
  /** The text below the chart while the pointer is not over it; the value under the pointer replaces it. */
  readonly caption: string;
  /** In pixels. */
  readonly height?: number;
}

/** A chart of a value over time. It follows the available width, the colours of the page, and new values. */
export function TimeChart(props: Props) {
  const { summary, at, values, peaks, spanMs, format, gaps, gapWord, caption, height = heightUsual } = props;
  const scheme = useComputedColorScheme('light');
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const newest = useRef(props);
  newest.current = props;
  const [hovered, setHovered] = useState<number>();

  useEffect(() => {
    if (box.current === null) return;
    const plot = new uPlot(optionsFor(box.current, scheme, newest, setHovered), dataOf(newest.current), box.current);
    chart.current = plot;
    const resized = new ResizeObserver(([entry]) => {
      if (entry !== undefined) plot.setSize({ width: entry.contentRect.width, height });
    });
    resized.observe(box.current);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [scheme, height]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart reads them from the newest properties
  useEffect(() => {
    chart.current?.setData(dataOf(newest.current));
  }, [at, values, peaks, gaps, spanMs]);

  const moment = hovered === undefined ? undefined : at[hovered];
  const value = hovered === undefined ? undefined : values[hovered];
  const peak = hovered === undefined ? undefined : peaks?.[hovered];
  const clockOf = spanMs > dayMs ? minuteTime : clock;
  return (
    <figure className={classes.figure}>
      <div ref={box} className={classes.box} style={{ height }} role="img" aria-label={summary} />
      <figcaption className={classes.caption}>
        {moment === undefined
          ? caption
          : `${clockOf.format(moment)} · ${value == null ? gapWord : format(value)}${peak == null ? '' : `, at most ${format(peak)}`}`}
      </figcaption>
    </figure>
  );
}

function dataOf({ at, values, peaks }: Props): uPlot.AlignedData {
  return [at.map((moment) => moment / 1_000), [...values], ...(peaks === undefined ? [] : [[...peaks]])];
}

function optionsFor(
  box: HTMLElement,
  scheme: 'light' | 'dark',
  newest: { readonly current: Props },
  hover: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(box);
  // A canvas does not understand light-dark(), so variables of our own would not work.
  const colour = (light: string, dark: string): string =>
    style.getPropertyValue(`--mantine-color-${scheme === 'dark' ? dark : light}`);
  const line = colour('cyan-8', 'cyan-4');
  const grid = colour('gray-2', 'dark-5');
  const gap = colour('red-4', 'red-8');
  const axis = { stroke: style.color, font: `12px ${style.fontFamily}`, ticks: { show: false } };
  return {
    width: box.clientWidth,
    height: newest.current.height ?? heightUsual,
    // Half of the last mark's label on the time axis is beyond the axis.
    padding: [8, 32, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: line } },
    scales: {
      x: {
        range: () => {
          const { at, spanMs } = newest.current;
          const last = at.at(-1) ?? 0;
          return [(last - spanMs) / 1_000, last / 1_000];
        },
      },
      y: { range: (_plot, _least, most) => [0, Math.max(1, (most ?? 0) * 1.15)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: timeStepsS,
        space: 80,
        size: 32,
        values: (_plot, moments, _axis, _space, stepS) =>
          moments.map((moment) =>
            (stepS < 60 ? clock : stepS < 86_400 ? clockToMinutes : dayOnly).format(moment * 1_000),
          ),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: grid, width: 1 },
        values: (_plot, values) => values.map((value) => newest.current.format(value)),
      },
    ],
    series: [
      {},
      { stroke: line, width: 2, points: { show: false }, spanGaps: false },
      ...(newest.current.peaks === undefined
        ? []
        : [{ stroke: line, width: 1, dash: [4, 4], points: { show: false }, spanGaps: false }]),
    ],
    hooks: {
      drawClear: [(plot) => drawGaps(plot, newest.current.gaps, gap)],
      setCursor: [({ cursor }) => hover(cursor.idx ?? undefined)],
    },
  };
}

/** Draws gaps as stripes, so that they do not depend on their colour alone. */
function drawGaps(plot: uPlot, gaps: Props['gaps'], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  for (const [from, to] of gaps) {
    const left = plot.valToPos(from / 1_000, 'x', true);
    const width = Math.max(devicePixelRatio, plot.valToPos(to / 1_000, 'x', true) - left);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    for (let x = left - bbox.height; x < left + width; x += 8 * devicePixelRatio) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

import { formatRoundTrip } from '@lockstep/shared/present';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { heatLimitsMs } from './latency-heat.ts';
import classes from './latency-table.module.css';

/** The legend of the heat map's colours and signs. `isDense`: the cells have no room for a word. */
export function LatencyLegend({ isDense }: { readonly isDense: boolean }) {
  return (
    <ul className={classes.legend} aria-label="What the colours mean">
      {[0, ...heatLimitsMs].map((from, heat) => (
        <li key={from}>
          <i data-heat={heat} aria-hidden="true" />
          {rangeInWords(from, heatLimitsMs[heat])}
        </li>
      ))}
      <li>
        <IconPlugConnectedX size={16} aria-hidden="true" />
        cut off: both are up and others reach them
      </li>
      <li>(12 ms) not measured for some seconds</li>
      {isDense && <li>– down or away</li>}
      <li>? not known</li>
      <li className={classes.wide}>Each number is smoothed over about the last eight seconds.</li>
    </ul>
  );
}

function rangeInWords(fromMs: number, toMs: number | undefined): string {
  if (toMs === undefined) return `${formatRoundTrip(fromMs)} and more`;
  return fromMs === 0 ? `below ${formatRoundTrip(toMs)}` : `${fromMs} to ${formatRoundTrip(toMs)}`;
}

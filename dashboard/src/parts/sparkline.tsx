import { formatDuration, formatRoundTrip } from '@lockstep/shared/present';
import classes from './sparkline.module.css';
import { sparklinePath } from './sparkline-path.ts';

const width = 120;
const height = 18;

/** The round trips of the last hour, one in `everyMs`, as a line without axes. Its title gives their range in words. */
export function Sparkline({
  samples,
  everyMs,
}: {
  readonly samples: readonly (number | null)[];
  readonly everyMs: number;
}) {
  const path = sparklinePath(samples, width, height);
  // An empty chart of the same size, so that nothing moves when there is something to draw.
  if (path === undefined) return <span className={classes.chart} />;
  const known = samples.filter((sample) => sample !== null);
  const range = `lowest ${formatRoundTrip(Math.min(...known))}, highest ${formatRoundTrip(Math.max(...known))}`;
  const time = formatDuration((samples.length * everyMs) / 1_000);
  return (
    <svg className={classes.chart} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
      <title>{`${range} in the last ${time}, each the mean of ${formatDuration(everyMs / 1_000)}`}</title>
      <path d={path} />
    </svg>
  );
}

import type { LatencySpan, MemberReport } from '@lockstep/shared/api';
import { formatRoundTrip } from '@lockstep/shared/present';
import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { keptSeries } from './kept-series.ts';
import classes from './latency-pair.module.css';

const spanWords = { '1h': 'the last hour', '24h': 'the last 24 hours', '7d': 'the last 7 days' } as const;

const pointWords = { '1h': 'a minute', '24h': '5 minutes', '7d': 'an hour' } as const;

const figures = [
  ['least', 'lowest'],
  ['mean', 'mean'],
  ['most', 'highest'],
] as const;

/** The round trips of a longer time, with their maxima, as they were kept over restarts of the agent. */
export function KeptChart({
  from,
  to,
  span,
}: {
  readonly from: MemberReport;
  readonly to: MemberReport;
  readonly span: keyof typeof spanWords;
}) {
  const { now, member } = useStatus();
  const query = new URLSearchParams({ from: from.id, to: to.id, span });
  const { data, error, again } = useApi<LatencySpan>(`/health/latency?${query}`, Math.floor(now / 60_000));
  const series = useMemo(() => data && keptSeries(data, `the agent of ${member.name}`), [data, member.name]);
  if (data === undefined || series === undefined) {
    return error === undefined ? <Loading rows={8} /> : <Failed error={error} again={again} />;
  }
  const { summary } = series;
  if (summary === undefined) {
    return (
      <Text mt="md">
        {member.name} has kept no round trip from {from.name} to {to.name} in {spanWords[span]}. {series.missing}
      </Text>
    );
  }
  return (
    <>
      <Text c="dimmed" size="sm">
        As {from.name} measured it in {spanWords[span]}. Each point is the mean of {pointWords[span]}; the dashed line
        is the highest {from.self ? 'single round trip' : 'smoothed one'} in it.
      </Text>
      <dl className={classes.figures}>
        {figures.map(([name, title]) => (
          <div key={name}>
            <dt>{title}</dt>
            <dd>{summary[name]}</dd>
          </div>
        ))}
      </dl>
      <TimeChart
        summary={`Round trip from ${from.name} to ${to.name} over ${spanWords[span]}: lowest ${summary.least}, mean ${summary.mean}, highest ${summary.most}. ${series.missing}`}
        at={series.at}
        values={series.values}
        peaks={series.peaks}
        spanMs={Math.min(
          data.until - data.from,
          Math.max(10 * data.everyMs, data.until - (data.points[0]?.at ?? data.from)),
        )}
        format={formatRoundTrip}
        gaps={series.gaps}
        gapWord="no session"
        caption={series.missing || 'There was a session throughout.'}
      />
    </>
  );
}

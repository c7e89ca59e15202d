import type { LatencyHistory, MemberReport } from '@lockstep/shared/api';
import { type Figure, formatDuration, formatRoundTrip, roundTrip, shortFigure } from '@lockstep/shared/present';
import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useEffect, useMemo, useRef } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { pairLink } from '../../parts/links.ts';
import { Failed, Loading } from '../../parts/notice.tsx';
import { SpanChoice } from '../../parts/span-choice.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { KeptChart } from './kept-chart.tsx';
import classes from './latency-pair.module.css';
import { gapsOf, latencySeries, summarise } from './latency-series.ts';

/** The figures over the whole time. The first one, of now, depends on its age. */
const figures = [
  ['least', 'lowest sample'],
  ['median', 'median sample'],
  ['most', 'highest sample'],
] as const;

const hourMs = 3_600_000;
/** The minimum span of the chart. A short one keeps the chart of a member that has just started from being mostly empty. */
const spanMsMin = 120_000;

/** The choice of the time. `live` is in the memory of the agent, the others are kept over its restarts. */
const spans = [
  ['live', 'Live'],
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
] as const;

/** The round trips in one direction of a pair: live, or over an hour, a day or a week. */
export function LatencyPair({ from, to }: { readonly from: MemberReport; readonly to: MemberReport }) {
  const section = useRef<HTMLElement>(null);
  const [parameters] = useSearchParams();
  const [span] = spans.find(([each]) => each === parameters.get('span')) ?? spans[0];
  const hrefOf = (each: (typeof spans)[number][0], [a, b] = [from, to]): string =>
    pairLink(a.id, b.id, each === 'live' ? undefined : each);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another pair is scrolled into view
  useEffect(() => {
    section.current?.scrollIntoView({ block: 'nearest' });
  }, [from.id, to.id]);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="pair" ref={section}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4" id="pair">
          {from.name} to {to.name}
        </Title>
        <Group gap="xs">
          <SpanChoice spans={spans} chosen={span} hrefOf={hrefOf} />
          <Button
            component={Link}
            href={hrefOf(span, [to, from])}
            variant="default"
            size="xs"
            leftSection={<IconArrowsExchange size={16} aria-hidden="true" />}
          >
            The other way
          </Button>
        </Group>
      </Group>
      {span === 'live' ? <LiveChart from={from} to={to} /> : <KeptChart from={from} to={to} span={span} />}
    </Paper>
  );
}

/** The samples of the last hour, updated live. */
function LiveChart({ from, to }: { readonly from: MemberReport; readonly to: MemberReport }) {
  const { now, member, members } = useStatus();
  const query = new URLSearchParams({ from: from.id, to: to.id });
  // The agent keeps a new sample every ten seconds.
  const { data, error, again } = useApi<LatencyHistory>(`/latencies/history?${query}`, Math.floor(now / 10_000));
  const figure = roundTrip({ from, to, members }, now);
  // A stale figure says nothing about now: the line ends where it was last measured.
  const isStale = figure?.staleMs !== undefined;
  const rttMs = figure?.rttMs;
  const series = useMemo(
    () => data && latencySeries(data, isStale ? undefined : { at: now, rttMs }),
    [data, now, rttMs, isStale],
  );
  const gaps = useMemo(() => (series ? gapsOf(series) : []), [series]);
  const summary = series && summarise(series);
  const ageMs = series ? (series.at.at(-1) ?? 0) - (series.at[0] ?? 0) : 0;
  const span = ageMs > hourMs - 60_000 ? 'the last hour' : `the last ${formatDuration(ageMs / 1_000)}`;
  return (
    <>
      <Text c="dimmed" size="sm">
        As {from.name} measures it{summary && `, over ${span}`}. Each sample is the smoothed round trip of its moment.
        {!from.self && from.latenciesMs === undefined && ` ${member.name} does not hear ${from.name} now.`}
      </Text>
      {error !== undefined && data === undefined && <Failed error={error} again={again} />}
      {error === undefined && data === undefined && <Loading rows={8} />}
      {series !== undefined && summary === undefined && figure === undefined && (
        <Text mt="md">
          {member.name} knows of no round trip from {from.name} to {to.name} in {span}.
        </Text>
      )}
      {series !== undefined && (figure !== undefined || summary !== undefined) && (
        <dl className={classes.figures}>
          <div data-stale={isStale || undefined}>
            <dt>{titleOf(figure)}</dt>
            <dd>{figure === undefined ? 'none' : shortFigure(figure)}</dd>
          </div>
          {summary !== undefined &&
            figures.map(([name, title]) => (
              <div key={name}>
                <dt>{title}</dt>
                <dd>{summary[name]}</dd>
              </div>
            ))}
        </dl>
      )}
      {series !== undefined && summary !== undefined && (
        <TimeChart
          summary={`Round trip from ${from.name} to ${to.name} over ${span}: lowest sample ${summary.least}, median ${summary.median}, highest ${summary.most}. ${summary.gaps ?? ''}`}
          at={series.at}
          values={series.values}
          spanMs={Math.min(hourMs, Math.max(spanMsMin, ageMs))}
          format={formatRoundTrip}
          gaps={gaps}
          gapWord="no session"
          caption={summary.gaps ?? 'There was a session throughout.'}
        />
      )}
    </>
  );
}

/** The word for the first figure. */
function titleOf(figure: Figure | undefined): string {
  if (figure?.staleMs === undefined) return 'now, smoothed';
  return `smoothed, ${formatDuration(figure.staleMs / 1_000)} ago`;
}

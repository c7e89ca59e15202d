import type { Throughput } from '@lockstep/shared/api';
import { formatBytes, formatCount, formatDuration, formatItems } from '@lockstep/shared/present';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Failed } from '../../parts/notice.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { Aside, Tile } from './tile.tsx';

const spanMs = 600_000;
const heightPx = 150;
const heightPxWide = 260;

/** The throughput of the serving member in the last ten minutes. */
export function ThroughputTile() {
  const { now, member } = useStatus();
  const isWide = useMediaQuery('(min-width: 120em)', false, { getInitialValueInEffect: false });
  // The agent takes a sample every ten seconds.
  const { data, error, again } = useApi<Throughput>('/throughput', Math.floor(now / 10_000));
  const sums = useMemo(() => data && throughputSums(data.samples), [data]);
  const words = sums && describe(sums, member.name);
  return (
    <Tile name="throughput" title="Last ten minutes" href="/operations">
      {error !== undefined && data === undefined && <Failed error={error} again={again} />}
      {words !== undefined && <Aside>{words}</Aside>}
      {data !== undefined && sums !== undefined && sums.at.length > 0 && (
        <TimeChart
          summary={`Operations in each ${formatDuration(data.everyMs / 1_000)} of the last ten minutes. ${words}`}
          at={sums.at}
          values={sums.operations}
          spanMs={spanMs}
          format={(count) => formatCount(Math.round(count))}
          gaps={[]}
          gapWord="not measured"
          caption={`Operations in each ${formatDuration(data.everyMs / 1_000)}`}
          height={isWide ? heightPxWide : heightPx}
        />
      )}
    </Tile>
  );
}

/** The samples as a line, and their sums. */
function throughputSums(samples: Throughput['samples']) {
  const sumOf = (key: 'operations' | 'receivedBytes' | 'sentBytes'): number =>
    samples.reduce((sum, sample) => sum + sample[key], 0);
  return {
    at: samples.map(({ at }) => at),
    operations: samples.map(({ operations }) => operations),
    total: sumOf('operations'),
    receivedBytes: sumOf('receivedBytes'),
    sentBytes: sumOf('sentBytes'),
  };
}

function describe({ total, receivedBytes, sentBytes }: ReturnType<typeof throughputSums>, name: string): string {
  if (total === 0 && receivedBytes === 0 && sentBytes === 0) return `Nothing has moved through ${name}.`;
  return `${formatItems(total, 'operation')} in the journal of ${name}, ${formatBytes(receivedBytes)} received, ${formatBytes(sentBytes)} sent.`;
}

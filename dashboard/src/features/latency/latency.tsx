import { latencyMatrix, matrixSentence } from '@lockstep/shared/present';
import { Paper, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { LatencyCut } from '../../parts/latency-cut.tsx';
import { Empty } from '../../parts/notice.tsx';
import { View } from '../../parts/view.tsx';
import { LatencyLegend } from './latency-legend.tsx';
import { LatencyPair } from './latency-pair.tsx';
import classes from './latency-table.module.css';
import { LatencyTable, wideMax } from './latency-table.tsx';

/** The round trips between all members, and those of one pair over the last hour. */
export function Latency() {
  const status = useStatus();
  const [parameters] = useSearchParams();
  const matrix = useMemo(() => latencyMatrix(status), [status]);
  const chosen = { from: parameters.get('from'), to: parameters.get('to') };
  const [from, to] = [chosen.from, chosen.to].map((id) => matrix.members.find((member) => member.id === id));
  if (matrix.members.length < 2) {
    return (
      <View title="Latency">
        <Empty title="There is no other member">
          Round trips between all members are shown here as soon as there is a second one.
        </Empty>
      </View>
    );
  }
  return (
    <View title="Latency" aside={matrixSentence(matrix)}>
      <LatencyCut matrix={matrix} />
      <Paper withBorder p="xs">
        <div className={classes.map}>
          <div className={classes.scroll}>
            <LatencyTable matrix={matrix} reports={status} chosen={chosen} />
          </div>
          <LatencyLegend isDense={matrix.members.length > wideMax} />
        </div>
      </Paper>
      {from !== undefined && to !== undefined && from !== to ? (
        <LatencyPair key={`${from.id} ${to.id}`} from={from} to={to} />
      ) : (
        <Paper withBorder p="md">
          <Text c="dimmed">
            {chosen.from === null || chosen.to === null
              ? 'Choose a pair in the table to see its last hour.'
              : 'One of the two members in this address is no longer a member. Choose a pair in the table.'}
          </Text>
        </Paper>
      )}
    </View>
  );
}

import type { TrafficTotal, Transfers } from '@lockstep/shared/api';
import { formatBytes, limitSentence, rateText, timeLeftText } from '@lockstep/shared/present';
import { Paper, Text } from '@mantine/core';
import classes from './transfers.module.css';

/** The sums in both directions: bytes that are missing, rate, and time until nothing is missing; and what did not have to be sent. */
export function TrafficTotals({ report, name }: { readonly report: Transfers; readonly name: string }) {
  return (
    <Paper withBorder component="section" aria-label="Totals">
      <dl className={classes.totals}>
        <Total title={`Still to come to ${name}`} total={report.arriving} />
        <Total title="Still to come to the others" total={report.leaving} from={name} />
        {report.reused > 0 && (
          <div>
            <dt>Did not have to be sent here</dt>
            <dd>
              <span className={classes.sum}>{formatBytes(report.reused)}</span>
              <span className={classes.quiet}>since {name} started</span>
            </dd>
          </div>
        )}
      </dl>
      {report.limits.map((limit) => {
        const sentence = limitSentence(limit, [limit]);
        return (
          <Text key={sentence} className={classes.limit}>
            {sentence}
          </Text>
        );
      })}
    </Paper>
  );
}

function Total({
  title,
  total: { left, bytesPerSecond, secondsLeft },
  from,
}: {
  readonly title: string;
  readonly total: TrafficTotal;
  readonly from?: string;
}) {
  const rate =
    bytesPerSecond >= 1 && (from === undefined ? rateText(bytesPerSecond) : `${rateText(bytesPerSecond)} from ${from}`);
  const pace = [rate, left > 0 && timeLeftText(secondsLeft)].filter((part) => typeof part === 'string');
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className={classes.sum}>{left === 0 ? 'nothing' : formatBytes(left)}</span>
        {pace.length > 0 && <span className={classes.quiet}>{pace.join(', ')}</span>}
      </dd>
    </div>
  );
}

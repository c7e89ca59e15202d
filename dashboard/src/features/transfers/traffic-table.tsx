import type { Transfers } from '@lockstep/shared/api';
import { formatBytes, formatItems, rateText } from '@lockstep/shared/present';
import { Anchor, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink } from '../../parts/links.ts';
import classes from './transfers.module.css';

type Traffic = Transfers['traffic'][number];

/** With more connected members than this, only those with traffic are listed. */
const listedMax = 12;

/** The traffic between this member and each connected one, by name. */
export function TrafficTable({ traffic, name }: { readonly traffic: Transfers['traffic']; readonly name: string }) {
  const sorted = traffic.toSorted((a, b) => a.name.localeCompare(b.name));
  const listed = sorted.length > listedMax ? sorted.filter(isMoving) : sorted;
  const quiet = sorted.length - listed.length;
  return (
    <Paper withBorder component="section" aria-labelledby="traffic">
      <Title order={2} size="h4" id="traffic" className={classes.title}>
        Between {name} and the others
      </Title>
      {listed.length > 0 && <Rows traffic={listed} />}
      {quiet > 0 && (
        <Text c="dimmed" className={classes.more}>
          No traffic between {name} and {formatItems(quiet, listed.length === 0 ? 'other' : 'more member')}.
        </Text>
      )}
    </Paper>
  );
}

function isMoving({ sentPerSecond, receivedPerSecond, queuedBytes }: Traffic): boolean {
  return sentPerSecond >= 1 || receivedPerSecond >= 1 || queuedBytes > 0;
}

function Rows({ traffic }: { readonly traffic: readonly Traffic[] }) {
  return (
    <table className={classes.traffic} aria-labelledby="traffic">
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Received</th>
          <th scope="col">Sent</th>
          <th scope="col">Queued</th>
        </tr>
      </thead>
      <tbody>
        {traffic.map(({ member, name: other, sentPerSecond, receivedPerSecond, queuedBytes }) => (
          <tr key={member}>
            <th scope="row">
              <Anchor component={Link} href={memberLink(member)} c="inherit" fw={600} underline="hover">
                {other}
              </Anchor>
            </th>
            <td>{rateText(receivedPerSecond)}</td>
            <td>{rateText(sentPerSecond)}</td>
            <td>{queuedBytes === 0 ? '–' : formatBytes(queuedBytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

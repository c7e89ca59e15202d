import type { Transfers } from '@lockstep/shared/api';
import { Anchor, Paper, Title } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink } from '../links.ts';
import { formatBytes } from '../parts/format.ts';
import { rateText } from './transfer-text.ts';
import classes from './transfers.module.css';

/** What passes between this member and each that it is connected to. */
export function TrafficTable({ traffic, name }: { readonly traffic: Transfers['traffic']; readonly name: string }) {
  return (
    <Paper withBorder component="section" aria-labelledby="traffic">
      <Title order={2} size="h4" id="traffic" className={classes.title}>
        Between {name} and the others
      </Title>
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
    </Paper>
  );
}

import type { Transfers } from '@lockstep/shared/api';
import { formatCount, formatItems } from '@lockstep/shared/present';
import { Anchor, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { pathLink } from '../../parts/links.ts';
import classes from './transfers.module.css';

/** The paths that are not on this member yet and for which nothing is fetched, each with its reason. `count`: their total number. */
export function PendingList({
  paths,
  count,
  name,
}: {
  readonly paths: Transfers['pendingPaths'];
  readonly count: number;
  readonly name: string;
}) {
  const unlisted = count - paths.length;
  return (
    <Paper withBorder component="section" aria-labelledby="pending">
      <Title order={2} size="h4" id="pending" className={classes.title}>
        {formatItems(count, 'path')} not on {name} yet
      </Title>
      <ul className={classes.list}>
        {paths.map(({ path, reason }) => (
          <li key={path} className={classes.row}>
            <Anchor component={Link} href={pathLink(path)} c="inherit" underline="hover" className={classes.path}>
              {path}
            </Anchor>
            <span className={classes.reason}>{reason}</span>
          </li>
        ))}
      </ul>
      {unlisted > 0 && (
        <Text c="dimmed" size="sm" className={classes.more}>
          And {formatCount(unlisted)} more after these.
        </Text>
      )}
    </Paper>
  );
}

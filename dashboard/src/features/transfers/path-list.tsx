import { formatCount } from '@lockstep/shared/present';
import { Anchor, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { pathLink } from '../../parts/links.ts';
import classes from './transfers.module.css';

/** Paths, each with a sentence. `count`: their total number. */
export function PathList({
  id,
  title,
  paths,
  count = paths.length,
}: {
  readonly id: string;
  readonly title: string;
  readonly paths: readonly { readonly path: string; readonly reason: string }[];
  readonly count?: number;
}) {
  const unlisted = count - paths.length;
  return (
    <Paper withBorder component="section" aria-labelledby={id}>
      <Title order={2} size="h4" id={id} className={classes.title}>
        {title}
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

import type { Resync } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { Anchor, Paper, Title } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink } from '../../parts/links.ts';
import { resyncStep } from './transfer-text.ts';
import classes from './transfers.module.css';

/** The members that are catching up, each with its source and progress. `entries`: the number of entries on the serving member. */
export function ResyncList({ resyncs, entries }: { readonly resyncs: readonly Resync[]; readonly entries: number }) {
  return (
    <Paper withBorder component="section" aria-labelledby="resyncs">
      <Title order={2} size="h4" id="resyncs" className={classes.title}>
        {formatItems(resyncs.length, 'member')} catching up
      </Title>
      <ul className={classes.list}>
        {resyncs.map((resync) => {
          const { value, max, text } = resyncStep(resync, entries);
          return (
            <li key={resync.member} className={classes.row}>
              <div className={classes.what}>
                <Anchor component={Link} href={memberLink(resync.member)} c="inherit" fw={600} underline="hover">
                  {resync.name}
                </Anchor>
              </div>
              <div className={classes.how}>
                <progress className={classes.bar} value={value} max={max} aria-label={`${resync.name}: ${text}`} />
                <span className={classes.numbers}>{text}</span>
              </div>
            </li>
          );
        })}
      </ul>
    </Paper>
  );
}

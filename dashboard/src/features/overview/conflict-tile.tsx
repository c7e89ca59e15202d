import type { ConflictsPage } from '@lockstep/shared/api';
import { formatCount } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { conflictLink } from '../../parts/links.ts';
import { Aside, Tile } from './tile.tsx';
import classes from './tiles.module.css';

const listedMax = 6;

/** The conflicts that wait for a choice. */
export function ConflictTile() {
  const { conflictCopies } = useStatus();
  const path = conflictCopies === 0 ? undefined : `/conflicts?limit=${listedMax}`;
  const { data } = useApi<ConflictsPage>(path, conflictCopies);
  return (
    <Tile name="conflicts" title="Conflicts" href="/conflicts">
      {conflictCopies === 0 && <Aside>No file waits for a choice.</Aside>}
      {conflictCopies > 0 && (
        <ul className={classes.list}>
          {data?.conflicts.slice(0, listedMax).map(({ path: original, copy: { path: copy }, loser, winner }) => (
            <li key={copy}>
              <span className={classes.row}>
                <Anchor
                  component={Link}
                  href={conflictLink(copy)}
                  c="inherit"
                  underline="hover"
                  className={classes.first}
                  title={original}
                >
                  {original}
                </Anchor>
                <span className={classes.last}>
                  {winner ?? 'nothing'} or {loser}
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {conflictCopies > listedMax && <Aside>… and {formatCount(conflictCopies - listedMax)} more.</Aside>}
    </Tile>
  );
}

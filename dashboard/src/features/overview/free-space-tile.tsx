import type { MemberReport } from '@lockstep/shared/api';
import { formatBytes, formatCount } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { memberLink } from '../../parts/links.ts';
import { Aside, Tile } from './tile.tsx';
import classes from './tiles.module.css';

const listedMax = 8;

type Spacious = MemberReport & { readonly freeBytes: number };

/** The free space of each member, the least first: the member with the smallest disk limits what all can hold. */
export function FreeSpaceTile() {
  const known = useStatus()
    .members.filter((member): member is Spacious => member.state !== 'left' && member.freeBytes !== undefined)
    .sort((a, b) => a.freeBytes - b.freeBytes);
  const most = Math.max(1, ...known.map(({ freeBytes }) => freeBytes));
  return (
    <Tile name="space" title="Free space">
      <ul className={classes.list}>
        {known.slice(0, listedMax).map(({ id, name, freeBytes }) => (
          <li key={id}>
            <span className={classes.row}>
              <Anchor component={Link} href={memberLink(id)} c="inherit" underline="hover" className={classes.first}>
                {name}
              </Anchor>
              <span className={classes.last}>{formatBytes(freeBytes)}</span>
            </span>
            <meter
              className={classes.bar}
              value={freeBytes / most}
              aria-label={`${name}: ${formatBytes(freeBytes)} free`}
            />
          </li>
        ))}
      </ul>
      {known.length > listedMax && (
        <Aside>… and {formatCount(known.length - listedMax)} members with more free space.</Aside>
      )}
    </Tile>
  );
}

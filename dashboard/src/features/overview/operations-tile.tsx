import type { OperationsPage } from '@lockstep/shared/api';
import { authorOf, formatItems, formatNames } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { useApi } from '../../live/use-api.ts';
import { Moment } from '../../parts/moment.tsx';
import { Failed } from '../../parts/notice.tsx';
import { acts } from '../../parts/operations/operation-filter.ts';
import {
  actOfItem,
  conflictOf,
  type OperationItem,
  pathOfItem,
  writersOf,
} from '../../parts/operations/operation-item.ts';
import { OperationList } from '../../parts/operations/operation-list.ts';
import { Aside, Tile } from './tile.tsx';
import classes from './tiles.module.css';

/** Enough for some lines, also if most are in groups. */
const operationsRead = 100;
/** On a very wide screen; the style sheet hides some of them on others. */
const linesMax = 20;

/** The newest operations, grouped as in their view. */
export function OperationsTile() {
  const { operations } = useStatus();
  const { data, error, again } = useApi<OperationsPage>(`/ops?limit=${operationsRead}`, operations);
  const lines = useMemo(() => {
    const list = new OperationList(operationsRead);
    list.prepend(data?.operations ?? []);
    return list.visible.slice(-linesMax).reverse();
  }, [data]);
  return (
    <Tile name="operations" title="Last operations" href="/operations">
      {error !== undefined && data === undefined && <Failed error={error} again={again} />}
      {data !== undefined && lines.length === 0 && <Aside>Nothing has happened yet.</Aside>}
      <ol className={classes.list}>
        {lines.map((item) => (
          <Line key={item.row} item={item} />
        ))}
      </ol>
    </Tile>
  );
}

function Line({ item }: { readonly item: OperationItem }) {
  const { operations } = item;
  const last = operations.at(-1);
  if (last === undefined) return null;
  const conflict = conflictOf(item);
  const isGroup = operations.length > 1 && conflict === undefined;
  const path = isGroup ? pathOfItem(item) : (conflict?.path ?? last.path);
  const shown = path === '/' ? 'the whole folder' : path;
  // A group is found by its path, a single operation by its name.
  const query = isGroup ? new URLSearchParams({ path: path.replace(/\/$/, '') }) : `op=${last.origin}:${last.seq}`;
  return (
    <li>
      <span className={classes.row} data-long>
        <span className={classes.word}>{acts[actOfItem(item)]}</span>
        <Anchor
          component={Link}
          href={`/operations?${query}`}
          c="inherit"
          underline="hover"
          className={classes.first}
          title={shown}
        >
          {isGroup ? `${formatItems(operations.length, 'operation')} in ${shown}` : shown}
        </Anchor>
        <span className={classes.last}>
          {conflict === undefined ? authorOf(last).memberName : formatNames(writersOf(conflict))},{' '}
          <Moment at={last.at} />
        </span>
      </span>
    </li>
  );
}

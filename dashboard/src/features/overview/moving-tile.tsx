import { limitSentence, percentOf, progressText } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { memberLink } from '../../parts/links.ts';
import { Aside, Tile } from './tile.tsx';
import classes from './tiles.module.css';

/** More members than this are counted. */
const listedMax = 6;

/** The members that lack bytes, with their progress. */
export function MovingTile() {
  const { members, limits = [] } = useStatus();
  const moving = members.flatMap(({ id, name, progress }) => (progress === undefined ? [] : [{ id, name, progress }]));
  return (
    <Tile name="moving" title="On the way" href="/transfers">
      {moving.length === 0 && <Aside>No connected member waits for file contents.</Aside>}
      <ul className={classes.list}>
        {moving.slice(0, listedMax).map(({ id, name, progress }) => {
          const text = progressText(progress);
          return (
            <li key={id}>
              <span className={classes.row}>
                <Anchor component={Link} href={memberLink(id)} c="inherit" underline="hover" className={classes.first}>
                  {name}
                </Anchor>
                <span className={classes.last}>{text}</span>
              </span>
              <progress className={classes.bar} value={percentOf(progress)} max={100} aria-label={`${name}: ${text}`} />
            </li>
          );
        })}
      </ul>
      {limits.map((limit) => {
        const sentence = limitSentence(limit, [limit]);
        return <Aside key={sentence}>{sentence}</Aside>;
      })}
      {moving.length > listedMax && <Aside>… and {moving.length - listedMax} more.</Aside>}
    </Tile>
  );
}

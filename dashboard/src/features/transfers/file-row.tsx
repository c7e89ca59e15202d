import { rateText, shareText, timeLeftText } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink, pathLink } from '../../parts/links.ts';
import classes from './transfers.module.css';

/** The other end of a transfer: `from bee`, `to cat`. */
interface OtherEnd {
  readonly word: 'from' | 'to';
  readonly member: string;
  readonly name: string;
}

/** A file on its way, with its progress, and its rate or the reason why nothing of it moves. */
export function FileRow({
  path,
  end,
  done,
  size,
  bytesPerSecond,
  secondsLeft,
  reason,
}: {
  readonly path: string;
  readonly end: OtherEnd | undefined;
  readonly done: number;
  readonly size: number;
  readonly bytesPerSecond: number;
  readonly secondsLeft: number | null;
  readonly reason: string | null;
}) {
  const share = shareText({ there: done, total: size });
  return (
    <li className={classes.row}>
      <div className={classes.what}>
        <Anchor component={Link} href={pathLink(path)} c="inherit" underline="hover" className={classes.path}>
          {path}
        </Anchor>
        {end !== undefined && (
          <span className={classes.quiet}>
            {end.word}{' '}
            <Anchor component={Link} href={memberLink(end.member)} c="inherit" underline="always">
              {end.name}
            </Anchor>
          </span>
        )}
      </div>
      <div className={classes.how}>
        <progress className={classes.bar} value={done} max={Math.max(1, size)} aria-label={`${path}: ${share}`} />
        <span className={classes.numbers}>
          <span>{share}</span>
          {reason === null && (
            <span className={classes.quiet}>
              {[rateText(bytesPerSecond), timeLeftText(secondsLeft)].filter(Boolean).join(', ')}
            </span>
          )}
        </span>
        {reason !== null && <span className={classes.reason}>{reason}</span>}
      </div>
    </li>
  );
}

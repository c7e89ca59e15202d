import { formatBytes, rateText, shareText, timeLeftText } from '@lockstep/shared/present';
import { Anchor } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { memberLink, pathLink } from '../../parts/links.ts';
import classes from './transfers.module.css';

/** A member at the other end of a transfer. */
interface OtherEnd {
  readonly member: string;
  readonly name: string;
  readonly bytesPerSecond: number;
}

/** A file on its way, with its progress, and its rate or the reason why nothing of it moves. */
export function FileRow({
  path,
  word,
  ends,
  done,
  size,
  reused,
  bytesPerSecond,
  secondsLeft,
  reason,
}: {
  readonly path: string;
  readonly word: 'from' | 'to';
  readonly ends: readonly OtherEnd[];
  readonly done: number;
  readonly size: number;
  /** Bytes that were here already, or are zeros. */
  readonly reused: number;
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
        {ends.length > 0 && (
          <span className={classes.quiet}>
            {word} <Ends ends={ends} />
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
          {reused > 0 && <span className={classes.quiet}>{formatBytes(reused)} of it did not have to be sent</span>}
        </span>
        {reason !== null && <span className={classes.reason}>{reason}</span>}
      </div>
    </li>
  );
}

/** The members by name; with the rate of each if there are several. */
function Ends({ ends }: { readonly ends: readonly OtherEnd[] }) {
  return ends.map(({ member, name, bytesPerSecond }, index) => (
    <Fragment key={member}>
      {index > 0 && ', '}
      <Anchor component={Link} href={memberLink(member)} c="inherit" underline="always">
        {name}
      </Anchor>
      {ends.length > 1 && ` ${rateText(bytesPerSecond)}`}
    </Fragment>
  ));
}

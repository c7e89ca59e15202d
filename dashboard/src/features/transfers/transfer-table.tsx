import type { Transfer } from '@lockstep/shared/api';
import { formatItems } from '@lockstep/shared/present';
import { Anchor, Paper, Title } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink, pathLink } from '../../parts/links.ts';
import { progressText, rateText, timeLeftText } from './transfer-text.ts';
import classes from './transfers.module.css';

/** The files whose content is on its way here, the transfer that began first at the top. */
export function TransferTable({ transfers, name }: { readonly transfers: readonly Transfer[]; readonly name: string }) {
  return (
    <Paper withBorder component="section" aria-labelledby="arriving">
      <Title order={2} size="h4" id="arriving" className={classes.title}>
        {formatItems(transfers.length, 'file')} on the way to {name}
      </Title>
      <ul className={classes.list}>
        {transfers.map((transfer) => (
          <TransferRow key={transfer.path} transfer={transfer} />
        ))}
      </ul>
    </Paper>
  );
}

function TransferRow({ transfer }: { readonly transfer: Transfer }) {
  const { path, from, fromName, size, done, bytesPerSecond, secondsLeft, waitsFor } = transfer;
  return (
    <li className={classes.row}>
      <div className={classes.what}>
        <Anchor component={Link} href={pathLink(path)} c="inherit" underline="hover" className={classes.path}>
          {path}
        </Anchor>
        {from !== null && (
          <span className={classes.quiet}>
            from{' '}
            <Anchor component={Link} href={memberLink(from)} c="inherit" underline="always">
              {fromName}
            </Anchor>
          </span>
        )}
      </div>
      <div className={classes.how}>
        <progress
          className={classes.bar}
          value={done}
          max={Math.max(1, size)}
          aria-label={`${path}: ${progressText(transfer)}`}
        />
        <span className={classes.numbers}>
          <span>{progressText(transfer)}</span>
          {waitsFor === null && (
            <span className={classes.quiet}>
              {[rateText(bytesPerSecond), timeLeftText(secondsLeft)].filter(Boolean).join(', ')}
            </span>
          )}
        </span>
        {waitsFor !== null && <span className={classes.reason}>{waitsFor}</span>}
      </div>
    </li>
  );
}

import type { MemberReport } from '@lockstep/shared/api';
import { formatCount, formatDuration, formatItems, paceText, problemWords, shareText } from '@lockstep/shared/present';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import classes from './member-table.module.css';
import { Nothing } from './nothing.tsx';

/** The lag of a member behind this one: how many bytes, else how many operations, for how long, and its problems. */
export function Lag({ member }: { readonly member: MemberReport }) {
  const { catchUp, behind, behindSeconds, progress } = member;
  if (member.state === 'left') return <Nothing why="has left" />;
  if (progress !== undefined) {
    const { there, total } = progress;
    const pace = paceText(progress);
    return (
      <>
        <progress
          className={classes.progress}
          value={there}
          max={total}
          aria-label={`${member.name}: ${shareText(progress)}`}
        />
        <span className={classes.share}>{shareText(progress)}</span>
        {pace !== undefined && <span className={classes.under}>{pace}</span>}
        <Problems member={member} />
      </>
    );
  }
  if (catchUp !== undefined && catchUp.total > 0) {
    return (
      <>
        <progress
          className={classes.progress}
          value={catchUp.done}
          max={catchUp.total}
          aria-label={`${member.name} catching up`}
        />
        <span className={classes.under}>
          {formatCount(catchUp.done)} of {formatCount(catchUp.total)}
        </span>
      </>
    );
  }
  return (
    <>
      {behind === 0 ? (
        <span className={classes.quiet}>nothing</span>
      ) : (
        <span className={classes.number}>{formatItems(behind, 'operation')}</span>
      )}
      {behindSeconds >= 1 && <span className={classes.under}>for {formatDuration(behindSeconds)}</span>}
      <Problems member={member} />
    </>
  );
}

function Problems({ member: { problems = 0, worstProblem } }: { readonly member: MemberReport }) {
  if (problems === 0) return null;
  return (
    <Link href="/problems" className={classes.alarm} title={formatItems(problems, 'problem')}>
      <IconAlertTriangle size={14} aria-hidden="true" />
      {worstProblem === undefined ? formatItems(problems, 'problem') : problemWords(worstProblem)}
    </Link>
  );
}

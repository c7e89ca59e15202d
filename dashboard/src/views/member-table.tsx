import type { MemberReport } from '@lockstep/shared/api';
import { formatBytes, formatCount, formatDuration, formatItems, formatRoundTrip } from '../parts/format.ts';
import { StateMark } from '../parts/state-mark.tsx';
import classes from './member-table.module.css';

/** The members, one in each row; on a narrow screen one in each card. */
export function MemberTable({ members }: { readonly members: readonly MemberReport[] }) {
  return (
    <table className={classes.table} aria-label="Members">
      <thead>
        <tr>
          {['Member', 'State', 'Round trip', 'Behind', 'Files'].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {members.map((member) => (
          <MemberRow key={member.id} member={member} />
        ))}
      </tbody>
    </table>
  );
}

function MemberRow({ member }: { readonly member: MemberReport }) {
  return (
    <tr data-member={member.name} data-gone={member.state === 'left' || undefined}>
      <th scope="row">
        {member.name}
        {member.self && <span className={classes.here}>this machine</span>}
      </th>
      <td data-title="State">
        <StateMark state={member.state} paused={member.paused} />
      </td>
      <td data-title="Round trip" className={classes.number}>
        {member.rttMs === null ? (
          <Nothing why={member.self ? 'itself' : 'not connected'} />
        ) : (
          formatRoundTrip(member.rttMs)
        )}
      </td>
      <td data-title="Behind">
        <Behind member={member} />
      </td>
      <td data-title="Files" className={classes.number}>
        {member.files === undefined ? (
          <Nothing why="never heard" />
        ) : (
          <span>
            {formatCount(member.files)}
            {member.bytes !== undefined && <span className={classes.aside}>{formatBytes(member.bytes)}</span>}
          </span>
        )}
      </td>
    </tr>
  );
}

function Behind({ member }: { readonly member: MemberReport }) {
  const { catchUp } = member;
  if (member.state === 'left') return <Nothing why="has left" />;
  if (catchUp !== undefined && catchUp.total > 0) {
    return (
      <span className={classes.progress}>
        <progress value={catchUp.done} max={catchUp.total} aria-label={`${member.name} catching up`} />
        {formatCount(catchUp.done)} of {formatCount(catchUp.total)}
      </span>
    );
  }
  if (member.behind === 0) return <span className={classes.quiet}>nothing</span>;
  return (
    <span className={classes.number}>
      {formatItems(member.behind, 'operation')}
      {member.behindSeconds >= 1 && <span className={classes.aside}>{formatDuration(member.behindSeconds)}</span>}
    </span>
  );
}

/** A dash for the eye, the reason for a screen reader. */
function Nothing({ why }: { readonly why: string }) {
  return (
    <span className={classes.quiet}>
      <span aria-hidden="true">–</span>
      <span className={classes.hidden}>{why}</span>
    </span>
  );
}

import type { MemberReport } from '@lockstep/shared/api';
import { Since } from '../../parts/moment.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { minuteTime } from '../../parts/time-formats.ts';
import classes from './member-table.module.css';

/** A member's state and its duration; below it the reason, or since when the member is in the group. */
export function MemberState({
  member,
  members,
}: {
  readonly member: MemberReport;
  readonly members: readonly MemberReport[];
}) {
  const since = stateSince(member);
  const why = whyOf(member, members);
  return (
    <>
      <span className={classes.state}>
        <StateMark condition={member.condition} />
        {since !== undefined && (
          <span className={classes.quiet}>
            <Since at={since} />
          </span>
        )}
      </span>
      {member.condition === 'silent' && member.lastSeenAt !== undefined && why === undefined && (
        <span className={classes.under}>
          not heard for <Since at={member.lastSeenAt} />
        </span>
      )}
      {why !== undefined && (
        <span className={classes.under} title={why} data-usual={member.state === 'active' || undefined}>
          {why}
        </span>
      )}
    </>
  );
}

/**
 * When a member entered the condition that is shown; undefined if that is not known. An active member reports this itself: the serving
 * member may have started later. One that is cut off is active all the time.
 */
export function stateSince({ condition, stateSince, enabledAt }: MemberReport): number | undefined {
  if (condition === 'cut-off') return undefined;
  return condition === 'active' ? (enabledAt ?? stateSince) : stateSince;
}

function whyOf(member: MemberReport, members: readonly MemberReport[]): string | undefined {
  switch (member.condition) {
    case 'active':
      return member.enabledAt === undefined ? undefined : `active since ${minuteTime.format(member.enabledAt)}`;
    case 'syncing':
    case 'joining': {
      const source = members.find(({ id }) => id === member.catchUp?.source);
      return source === undefined ? undefined : `from ${source.name}`;
    }
    case 'paused':
      return 'takes part again when it is resumed';
    case 'shut-down':
      return 'its agent was shut down';
    case 'away':
      return 'marked as one that may be away';
    case 'cut-off': {
      const by = members.find(({ id }) => id === member.via);
      return by === undefined ? undefined : `heard by way of ${by.name}`;
    }
    case 'unknown':
      return 'not heard since this agent started or was resumed';
    case 'down':
    case 'silent':
      return member.lastError ?? (member.lastSeenAt === undefined ? 'not heard since this agent started' : undefined);
    case 'left':
      return member.removedBy === undefined ? undefined : `removed by ${member.removedBy}`;
  }
}

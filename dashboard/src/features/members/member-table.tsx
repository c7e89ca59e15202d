import type { MemberReport, RecentLatencies } from '@lockstep/shared/api';
import { describeFigure, formatBytes, formatCount, roundTrip, shortFigure } from '@lockstep/shared/present';
import { Fragment, useEffect, useRef } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { memberLink } from '../../parts/links.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { MemberDetails } from './member-details.tsx';
import { crowdMin } from './member-groups.ts';
import { Lag } from './member-lag.tsx';
import { MemberState } from './member-state.tsx';
import classes from './member-table.module.css';
import { Nothing } from './nothing.tsx';

const titles = ['Member', 'State', 'Round trip', 'Behind', 'Files', 'Free space', 'Version'];

interface Shared {
  /** All members, also those that are filtered out. */
  readonly members: readonly MemberReport[];
  /** Id of the member that has been active longest. */
  readonly oldest: string | undefined;
  readonly recent: RecentLatencies | undefined;
}

/** The members, one in each row, or on a narrow screen in each card. The `chosen` one is shown with its details. */
export function MemberTable({
  shown,
  chosen,
  ...shared
}: Shared & { readonly shown: readonly MemberReport[]; readonly chosen: string | undefined }) {
  return (
    <table className={classes.table} data-crowd={shared.members.length >= crowdMin || undefined} aria-label="Members">
      <thead>
        <tr>
          {titles.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((member) => {
          const isChosen = member.id === chosen;
          return (
            <Fragment key={member.id}>
              <MemberRow member={member} isChosen={isChosen} {...shared} />
              {isChosen && <DetailsRow member={member} members={shared.members} />}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

function MemberRow({
  member,
  isChosen,
  oldest,
  members,
  recent,
}: Shared & { member: MemberReport; isChosen: boolean }) {
  const recorded = recent?.members.find((row) => row.member === member.id)?.samples;
  // Without a session now, a few old round trips next to the dash look like a fault of the page.
  const samples = member.rttMs === null && recorded !== undefined ? [] : recorded;
  const [address] = member.addresses;
  const [parameters] = useSearchParams();
  return (
    <tr data-member={member.name} data-gone={member.state === 'left' || undefined} data-chosen={isChosen || undefined}>
      <th scope="row">
        <Link
          href={memberLink(isChosen ? undefined : member.id, parameters)}
          className={classes.name}
          aria-expanded={isChosen}
          title={member.name}
        >
          {member.name}
        </Link>
        {member.self && <span className={classes.tag}>this machine</span>}
        {member.onDemand && (
          <span
            className={classes.tag}
            title="It has the files that were read or written there, and fetches others when they are read"
          >
            on demand
          </span>
        )}
        {member.id === oldest && members.length > 1 && (
          <span className={classes.tag} title="Active longest: members that lack something ask it first">
            oldest
          </span>
        )}
        <span className={classes.under} title={address}>
          {address}
        </span>
      </th>
      <td data-title="State">
        <MemberState member={member} members={members} />
      </td>
      <td data-title="Round trip">
        {member.rttMs === null ? (
          <Nothing why={member.self ? 'itself' : 'not connected'} />
        ) : (
          <RoundTrip member={member} members={members} />
        )}
        {recent !== undefined && samples !== undefined && <Sparkline samples={samples} everyMs={recent.everyMs} />}
      </td>
      <td data-title="Behind">
        <Lag member={member} />
      </td>
      <td data-title="Files">
        {member.files === undefined ? (
          <Nothing why="never heard from" />
        ) : (
          <span className={classes.number}>{formatCount(member.files)}</span>
        )}
        {member.bytes !== undefined && <span className={classes.under}>{formatBytes(member.bytes)}</span>}
      </td>
      <td data-title="Free space">
        {member.freeBytes === undefined ? (
          <Nothing why={member.files === undefined ? 'never heard from' : 'the disk is not there'} />
        ) : (
          <span className={classes.number}>{formatBytes(member.freeBytes)}</span>
        )}
      </td>
      <td data-title="Version">{member.software ?? <Nothing why="never heard from" />}</td>
    </tr>
  );
}

/** The round trip from the asked member. */
function RoundTrip({ member, members }: Pick<Shared, 'members'> & { member: MemberReport }) {
  const { now } = useStatus();
  const self = members.find((other) => other.self);
  const figure = self && roundTrip({ from: self, to: member, members }, now);
  if (figure === undefined) return <Nothing why="not measured yet" />;
  return (
    <span
      className={classes.number}
      title={`Smoothed over about eight seconds: ${describeFigure(figure)}`}
      data-stale={figure.staleMs !== undefined || undefined}
    >
      {shortFigure(figure)}
    </span>
  );
}

function DetailsRow({ member, members }: Pick<Shared, 'members'> & { member: MemberReport }) {
  const row = useRef<HTMLTableRowElement>(null);
  // A link may lead to a member far down the table.
  useEffect(() => {
    row.current?.previousElementSibling?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <tr ref={row} className={classes.details}>
      <td colSpan={titles.length}>
        <MemberDetails member={member} members={members} />
      </td>
    </tr>
  );
}

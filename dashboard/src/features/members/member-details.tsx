import type { MemberReport, Status } from '@lockstep/shared/api';
import {
  cachePrefetches,
  cacheReads,
  formatBytes,
  formatCount,
  formatDuration,
  formatItems,
  formatRoundTrip,
  lackingText,
  problemWords,
  progressText,
} from '@lockstep/shared/present';
import { Code } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { Moment } from '../../parts/moment.tsx';
import { ControlMember } from './control-member.tsx';
import classes from './member-details.module.css';
import { stateSince } from './member-state.tsx';
import { RemoveMember } from './remove-member.tsx';

type Fact = readonly [title: string, value: ReactNode];

/** Everything that is known about one member. */
export function MemberDetails({
  member,
  members,
}: {
  readonly member: MemberReport;
  readonly members: readonly MemberReport[];
}) {
  const { cache } = useStatus();
  return (
    <>
      <dl className={classes.facts} aria-label={`Details of ${member.name}`}>
        {[...factsOf(member, members), ...(member.self && cache !== undefined ? cacheFacts(cache) : [])]
          .filter(([, value]) => value !== undefined)
          .map(([title, value]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <div className={classes.actions}>
        <ControlMember member={member} />
        <RemoveMember member={member} />
      </div>
    </>
  );
}

function factsOf(member: MemberReport, members: readonly MemberReport[]): readonly Fact[] {
  const moment = (at: number | undefined) => at !== undefined && <Moment at={at} />;
  const bytes = (count: number | undefined) => count !== undefined && formatBytes(count);
  const { problems = 0, worstProblem, clockSkewMs, load, latenciesMs = {}, progress } = member;
  const trips = Object.entries(latenciesMs).map(([id, ms]) => {
    const name = members.find((other) => other.id === id)?.name ?? id.slice(0, 8);
    return `${name} ${formatRoundTrip(ms)}`;
  });
  const facts: readonly (readonly [string, ReactNode | false])[] = [
    ['In this state since', moment(stateSince(member))],
    ['Active since', moment(member.enabledAt)],
    ['Last heard from', !member.self && moment(member.lastSeenAt)],
    ['Last error', !['shut-down', 'paused', 'away'].includes(member.condition) && (member.lastError ?? false)],
    ['Contents', member.onDemand === true && 'on demand: it has the files that were read or written there'],
    ['Copies', member.lackingCopies !== undefined && `it ${lackingText(member.lackingCopies)}`],
    ['May be away', member.mayBeAway === true && 'yes: its machine is off at times'],
    [
      'Problems',
      problems > 0 && (
        <Link href="/problems">
          {formatItems(problems, 'problem')}
          {worstProblem !== undefined && `: ${problemWords(worstProblem)}`}
        </Link>
      ),
    ],
    ['On its disk', progress !== undefined && progressText(progress)],
    ['Not on its disk yet', (member.pending ?? 0) > 0 && formatItems(member.pending ?? 0, 'path')],
    ['Round trips it measures', trips.length > 0 && trips.join(', ')],
    ['Addresses', member.addresses.length > 0 && member.addresses.join(', ')],
    ['Connected from', member.remote ?? false],
    ['Clock', clockSkewMs !== undefined && skewText(clockSkewMs)],
    ['Processors in use', load !== undefined && `${load.toFixed(2)}`],
    ['Content sent to it', bytes(member.sentBytes)],
    ['Content received from it', bytes(member.receivedBytes)],
    ['Waiting to be sent to it', (member.queuedBytes ?? 0) > 0 && bytes(member.queuedBytes)],
    ['Operations it knows', member.version !== undefined && formatCount(knownCount(member.version))],
    ['Digest', member.digest !== undefined && <Code>{member.digest}</Code>],
    ['Id', <Code key="id">{member.id}</Code>],
  ];
  return facts.filter(([, value]) => value !== false);
}

/** The facts about the contents of this member, if it fetches them on demand. */
function cacheFacts(cache: NonNullable<Status['cache']>): readonly Fact[] {
  const { usedBytes, bytesMax, files, remoteFiles, pins } = cache;
  return [
    ['Contents here', `${formatItems(files, 'file')}, ${formatBytes(usedBytes)} of at most ${formatBytes(bytesMax)}`],
    ['Fetched when they are read', formatItems(remoteFiles, 'file')],
    ['Reads', cacheReads(cache)],
    ['Fetched before they were read', cache.prefetchedFiles > 0 ? cachePrefetches(cache) : undefined],
    ...(pins.length === 0 ? [] : [['Pinned', pins.map((pin) => pin || 'the whole folder').join(', ')] as const]),
  ];
}

function knownCount(version: Readonly<Record<string, number>>): number {
  return Object.values(version).reduce((sum, seq) => sum + seq, 0);
}

/** The clock skew in words. A skew below 100 ms may be due to the network rather than the clock. */
function skewText(ms: number): string {
  if (Math.abs(ms) < 100) return 'the same as here';
  return `${formatDuration(Math.abs(ms) / 1_000)} ${ms > 0 ? 'ahead' : 'behind'}`;
}

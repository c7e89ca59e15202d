import { formatItems, type MemberProblem, problemTone, problemWords } from '@lockstep/shared/present';
import { Code, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { memberLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import classes from './problems.module.css';

const kinds = { 'shut-down': 'shut down', paused: 'paused', down: 'down', problems: 'has problems' } as const;

/** The other members that need attention, each with what is known here about the reason. */
export function OtherMembers({ problems }: { readonly problems: readonly MemberProblem[] }) {
  return (
    <Paper withBorder component="section" aria-labelledby="other-problems" className={classes.section}>
      <Title order={2} size="h4" id="other-problems" className={classes.title}>
        {formatItems(problems.length, 'other member')} to look after
      </Title>
      <ul className={classes.list}>
        {problems.map(({ member, why }) => (
          <li key={member.id} className={classes.item}>
            <span className={classes.kind} data-tone={toneOf({ member, why })}>
              {kinds[why]}
            </span>
            <div className={classes.text}>
              <Text component="div">
                <Link href={memberLink(member.id)} className={classes.link}>
                  {member.name}
                </Link>{' '}
                <WhatToDo problem={{ member, why }} />
              </Text>
            </div>
            <Text c="dimmed" size="sm" component="span">
              {why !== 'problems' && member.stateSince !== undefined && <Moment at={member.stateSince} />}
            </Text>
          </li>
        ))}
      </ul>
    </Paper>
  );
}

/** The colour of the sentence above every view for the same: red only where data or a member is at risk. */
function toneOf({ member: { worstProblem = 'unknown' }, why }: MemberProblem): 'bad' | 'held' {
  if (why === 'problems') return problemTone(worstProblem);
  return why === 'down' ? 'bad' : 'held';
}

function WhatToDo({ problem: { member, why } }: { readonly problem: MemberProblem }) {
  if (why === 'paused') {
    return (
      <>
        was paused by a person, and gets nothing until it is resumed: on its own page, there with{' '}
        <Code>lockstep resume</Code>, or in its details here if it allows that.
      </>
    );
  }
  if (why === 'shut-down') {
    return (
      <>
        was shut down. Start it again with <Code>lockstep up</Code> in its folder, or retire it there with{' '}
        <Code>lockstep leave</Code>.
      </>
    );
  }
  if (why === 'down') {
    return (
      <>
        does not answer. {member.lastError} Check that its machine is running and reachable, and start it with{' '}
        <Code>lockstep up</Code> in its folder.
      </>
    );
  }
  return (
    <>
      reports {formatItems(member.problems ?? 0, 'problem')}
      {member.worstProblem !== undefined && `: ${problemWords(member.worstProblem)}`}. Open its own dashboard, or run{' '}
      <Code>lockstep status</Code> on that machine, to see what to do.
    </>
  );
}

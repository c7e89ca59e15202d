import type { RetryResult, Status } from '@lockstep/shared/api';
import { formatItems, ignoreRuleOf, problemTone, problemWords } from '@lockstep/shared/present';
import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { askApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { retrySentence } from '../../parts/action-sentences.ts';
import { ignoreRuleLink, memberLink, pathLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import { useAction } from '../../parts/use-action.ts';
import classes from './problems.module.css';
import { RunbookEntry } from './runbook-entry.tsx';

type Problem = Status['problems'][number];

/** More problems than this are only counted: a list of thousands is not read, and the command line lists all that the agent reports. */
const shownMax = 200;

/** The problems of the serving member, each with what to do about it. */
export function ProblemList({ status }: { readonly status: Status }) {
  const { problems, problemCount, member } = status;
  const shown = problems.slice(0, shownMax);
  const { state, run, forget } = useAction();
  const retry = (): void => {
    if (state.is === 'running') return;
    void run('Retrying …', async () => retrySentence(await askApi<RetryResult>('/retry', { method: 'POST' })));
  };
  return (
    <Paper withBorder component="section" aria-labelledby="own-problems" className={classes.section}>
      <Group justify="space-between" className={classes.title}>
        <Title order={2} size="h4" id="own-problems">
          {formatItems(problemCount, 'problem')} on {member.name}
        </Title>
        <Button variant="default" size="xs" onClick={retry} data-busy={state.is === 'running' || undefined}>
          Retry now
        </Button>
      </Group>
      <ActionResult state={state} forget={forget} />
      <ul className={classes.list}>
        {shown.map((problem) => (
          <ProblemItem key={keyOf(problem)} problem={problem} members={status.members} />
        ))}
      </ul>
      {problemCount > shown.length && (
        <Text c="dimmed" size="sm" className={classes.rest}>
          And {formatItems(problemCount - shown.length, 'more problem')}: <code>lockstep status</code> lists them.
        </Text>
      )}
    </Paper>
  );
}

function ProblemItem({ problem, members }: { readonly problem: Problem } & Pick<Status, 'members'>) {
  const { code, path, member: about, detail, since } = problem;
  const member = members.find(({ id, name }) => id === about || name === about);
  const rule = ignoreRuleOf(problem);
  return (
    <li className={classes.item}>
      <span className={classes.kind} data-tone={problemTone(code)}>
        {problemWords(code)}
      </span>
      <div className={classes.text}>
        <Text>{detail}</Text>
        {path !== undefined && (
          <Link href={pathLink(path)} className={classes.link}>
            {path}
          </Link>
        )}
        {member !== undefined && (
          <Link href={memberLink(member.id)} className={classes.link}>
            {member.name}
          </Link>
        )}
        {rule !== undefined && (
          <Button
            variant="default"
            size="compact-sm"
            component={Link}
            href={ignoreRuleLink(rule)}
            className={classes.ignore}
            aria-label={`Ignore ${path}`}
          >
            Ignore …
          </Button>
        )}
        <RunbookEntry problem={problem} />
      </div>
      <Text c="dimmed" size="sm" component="span">
        <Moment at={since} />
      </Text>
    </li>
  );
}

function keyOf({ code, path = '', member = '' }: Problem): string {
  return `${code}\n${path}\n${member}`;
}

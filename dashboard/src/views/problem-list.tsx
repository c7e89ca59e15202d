import type { Status } from '@lockstep/shared/api';
import { List, Paper, Text, Title } from '@mantine/core';
import { formatDuration, formatItems } from '../parts/format.ts';

/** More than this would push everything else off the page; the command line lists them all. */
const shownMax = 20;

/** What is wrong on the member that answers, and what to do about it. */
export function ProblemList({ status }: { readonly status: Status }) {
  const { problems, problemCount, now, member } = status;
  if (problemCount === 0) return null;
  const shown = problems.slice(0, shownMax);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="problems">
      <Title order={2} size="h4" id="problems" mb="xs">
        {formatItems(problemCount, 'problem')} on {member.name}
      </Title>
      <List spacing="xs">
        {shown.map(({ code, path = '', member: about = '', detail, since }) => (
          <List.Item key={`${code}\n${path}\n${about}`}>
            <Text span style={{ overflowWrap: 'anywhere' }}>
              {detail}
            </Text>{' '}
            <Text span c="dimmed" size="sm" style={{ whiteSpace: 'nowrap' }}>
              since {formatDuration(Math.max(0, now - since) / 1000)}
            </Text>
          </List.Item>
        ))}
      </List>
      {problemCount > shown.length && (
        <Text c="dimmed" size="sm" mt="xs">
          And {formatItems(problemCount - shown.length, 'more problem')}: <code>lockstep status</code> lists them.
        </Text>
      )}
    </Paper>
  );
}

import { Code, Paper, Text, Title } from '@mantine/core';
import { useStatus } from '../live/status-context.ts';
import { formatBytes, formatItems } from '../parts/format.ts';
import { View } from '../parts/view.tsx';
import { MemberTable } from './member-table.tsx';
import classes from './overview.module.css';
import { ProblemList } from './problem-list.tsx';

/** All members, and what is wrong. */
export function Overview() {
  const status = useStatus();
  const isAlone = status.members.filter(({ state }) => state !== 'left').length === 1;
  return (
    <View
      title="Overview"
      aside={`${formatItems(status.files, 'file')}, ${formatBytes(status.bytes)} in ${status.member.folder}`}
    >
      <ProblemList status={status} />
      <Paper withBorder className={classes.members}>
        <MemberTable members={status.members} />
      </Paper>
      {isAlone && <HowToAdd />}
    </View>
  );
}

/** The cluster has one member only: what to do about it. */
function HowToAdd() {
  const status = useStatus();
  const address = status.member.addresses[0] ?? status.member.address;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="add">
      <Title order={2} size="h4" id="add" mb="xs">
        Add a second machine
      </Title>
      <Text>
        Copy <Code>.lockstep/cluster.key</Code> from {status.member.name} to the other machine. There, in the folder
        that is to become the same, run:
      </Text>
      <Code block mt="sm" className={classes.command}>
        {`lockstep init --name bee --cluster-key-file cluster.key --peer ${address}\nlockstep up`}
      </Code>
    </Paper>
  );
}

import type { Status } from '@lockstep/shared/api';
import { Alert, Code, Container, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import classes from './app.module.css';
import { clusterSentence } from './cluster-sentence.ts';
import { formatBytes, formatDuration, formatItems } from './format.ts';
import { MemberTable } from './member-table.tsx';
import { PageHeader } from './page-header.tsx';
import { ProblemList } from './problem-list.tsx';
import { StatusFeed } from './status-feed.ts';

const feed = new StatusFeed();

/** The page: one sentence on the cluster, its members, and what is wrong. */
export function App() {
  const { status, silentSince } = useSyncExternalStore(feed.subscribe, feed.get);
  return (
    <Container size="md" pb="xl">
      <PageHeader />
      <Stack component="main" gap="lg" mt="md">
        {silentSince !== undefined && <Silence since={silentSince} known={status !== undefined} />}
        {status !== undefined ? (
          <Cluster status={status} stale={silentSince !== undefined} />
        ) : (
          silentSince === undefined && <Waiting />
        )}
      </Stack>
    </Container>
  );
}

function Cluster({ status, stale }: { readonly status: Status; readonly stale: boolean }) {
  const { tone, text } = clusterSentence(status);
  const alone = status.members.filter(({ state }) => state !== 'left').length === 1;
  return (
    <>
      <div className={classes.sentence} data-tone={stale ? 'stale' : tone} role="status">
        <Title order={1} size="h2" textWrap="balance">
          {stale ? `Last known: ${text}` : text}
        </Title>
        <Text c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {formatItems(status.files, 'file')}, {formatBytes(status.bytes)} in {status.member.folder}, as{' '}
          {status.member.name} sees it
        </Text>
      </div>
      <ProblemList status={status} />
      <Paper withBorder className={classes.members}>
        <MemberTable members={status.members} />
      </Paper>
      {alone && <HowToAdd status={status} />}
    </>
  );
}

/** The agent does not answer: since when, and what to do. */
function Silence({ since, known }: { readonly since: number; readonly known: boolean }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Alert color="red" variant="outline" role="alert" title="The agent of this machine does not answer">
      <Text>
        Nothing was heard for {formatDuration(Math.max(1_000, now - since) / 1_000)}. If it was stopped, start it again
        with <Code>lockstep up</Code> in its folder. This page asks again by itself
        {known ? '; below is what was known last.' : '.'}
      </Text>
    </Alert>
  );
}

/** The cluster has one member only: what to do about it. */
function HowToAdd({ status }: { readonly status: Status }) {
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

function Waiting() {
  return (
    <Stack aria-busy="true" aria-label="Asking the agent">
      <Skeleton height={34} width="60%" />
      <Skeleton height={20} width="40%" />
      <Skeleton height={180} />
    </Stack>
  );
}

import type { HealthEvent, HealthEvents } from '@lockstep/shared/api';
import { healthEventText } from '@lockstep/shared/present';
import { Button, Group, NativeSelect, Paper, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useStatus } from '../../live/status-context.ts';
import { askApi, sentenceOf, useApi } from '../../live/use-api.ts';
import { memberLink, problemLink } from '../../parts/links.ts';
import { Moment } from '../../parts/moment.tsx';
import { Failed, Loading } from '../../parts/notice.tsx';
import classes from './event-list.module.css';

/** The events of the last 30 days, newest first, each leading to what it is about. */
export function EventList({
  about,
  hrefOf,
}: {
  /** Only the events of this member. */
  readonly about: string | undefined;
  readonly hrefOf: (about: string | undefined) => string;
}) {
  const { now, member, members } = useStatus();
  const [, navigate] = useLocation();
  const query = about === undefined ? '' : `member=${encodeURIComponent(about)}&`;
  const { data, error, again } = useApi<HealthEvents>(`/health/events?${query}limit=50`, Math.floor(now / 5_000));
  const [older, setOlder] = useState<HealthEvents>();
  const [olderError, setOlderError] = useState<string>();
  const newest = data?.events ?? [];
  const events = [...newest, ...(older?.events.filter(({ number }) => number < (newest.at(-1)?.number ?? 0)) ?? [])];
  const readOlder = async (): Promise<void> => {
    const before = events.at(-1)?.number;
    try {
      const page = await askApi<HealthEvents>(`/health/events?${query}limit=50&before=${before}`);
      setOlder({ events: [...events, ...page.events], more: page.more });
      setOlderError(undefined);
    } catch (reason) {
      setOlderError(sentenceOf(reason));
    }
  };
  return (
    <Paper withBorder component="section" aria-labelledby="health-events" className={classes.section}>
      <Group justify="space-between" gap="xs" className={classes.title}>
        <Title order={2} size="h4" id="health-events">
          Events of the last 30 days
        </Title>
        <NativeSelect
          aria-label="Events of"
          size="xs"
          value={about ?? ''}
          onChange={({ currentTarget: { value } }) =>
            navigate(hrefOf(value === '' ? undefined : value), { replace: true })
          }
          data={[{ value: '', label: 'All members' }, ...members.map(({ id, name }) => ({ value: id, label: name }))]}
        />
      </Group>
      {data === undefined && (error === undefined ? <Loading rows={4} /> : <Failed error={error} again={again} />)}
      {data !== undefined && events.length === 0 && (
        <Text c="dimmed" className={classes.rest}>
          {about === undefined ? 'Nothing happened.' : 'Nothing happened to this member.'}
        </Text>
      )}
      <ul className={classes.list}>
        {events.map((event) => (
          <li key={event.number} className={classes.item} data-tone={toneOf(event)}>
            <Link href={linkOf(event, member.id)} className={classes.text}>
              {healthEventText(event)}
            </Link>
            <Text c="dimmed" size="sm" component="span">
              <Moment at={event.at} />
            </Text>
          </li>
        ))}
      </ul>
      {olderError !== undefined && <Failed error={olderError} again={() => void readOlder()} />}
      {olderError === undefined && events.length > 0 && (older ?? data)?.more === true && (
        <div className={classes.rest}>
          <Button variant="default" size="xs" onClick={() => void readOlder()}>
            Older events
          </Button>
        </div>
      )}
    </Paper>
  );
}

function toneOf({ kind }: HealthEvent): 'bad' | 'held' | 'good' | undefined {
  if (kind === 'down' || kind === 'problem') return 'bad';
  if (kind === 'conflict' || kind === 'paused' || kind === 'shut-down' || kind === 'cut-off') return 'held';
  return kind === 'back' || kind === 'joined' || kind === 'problem-over' || kind === 'conflicts-settled'
    ? 'good'
    : undefined;
}

function linkOf({ kind, member, data }: HealthEvent, self: string): string {
  if (kind === 'conflict' || kind === 'conflicts-settled') return '/conflicts';
  if (kind === 'problem' && member === self) return problemLink({ code: data.code });
  return memberLink(member);
}

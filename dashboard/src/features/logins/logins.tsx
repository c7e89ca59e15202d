import type { EndSessionsResult, LogoutResult, SessionList } from '@lockstep/shared/api';
import { Badge, Button, Code, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { askApi, useApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Failed, Loading } from '../../parts/notice.tsx';
import { useAction } from '../../parts/use-action.ts';
import { View } from '../../parts/view.tsx';
import classes from './logins.module.css';

type Session = SessionList['sessions'][number];

/** The browsers that are logged in to the member of this page. */
export function Logins() {
  const { member, now } = useStatus();
  const { data, error, again } = useApi<SessionList>('/sessions', Math.floor(now / 10_000));
  const { state, run, forget } = useAction();
  const end = (sessions: readonly Session[]): void => {
    if (state.is === 'running') return;
    void run('Logging out …', async () => {
      const body = { ids: sessions.map(({ id }) => id) };
      await askApi<EndSessionsResult>('/sessions/end', { method: 'POST', body });
      again();
      return sessions.length === 1 ? 'That browser is logged out.' : 'The other browsers are logged out.';
    });
  };
  const logOut = (): void => {
    if (state.is === 'running') return;
    void run('Logging out …', async () => {
      await askApi<LogoutResult>('/logout', { method: 'POST' });
      location.reload();
      return 'This browser is logged out.';
    });
  };
  const others = data?.sessions.filter(({ isThis }) => !isThis) ?? [];
  return (
    <View
      title="Logins"
      aside={`The browsers that may see and do everything on the page of ${member.name}`}
      actions={
        others.length > 1 && (
          <Button variant="default" onClick={() => end(others)}>
            Log all others out
          </Button>
        )
      }
    >
      {data === undefined && (error === undefined ? <Loading rows={3} /> : <Failed error={error} again={again} />)}
      {data !== undefined && (
        <Paper withBorder component="ul" className={classes.list} aria-label="Logins">
          {data.sessions.toReversed().map((session) => (
            <Login
              key={session.id}
              session={session}
              button={
                session.isThis ? (
                  <Button variant="default" size="xs" onClick={logOut}>
                    Log out
                  </Button>
                ) : (
                  <Button
                    variant="default"
                    size="xs"
                    aria-label={`End the login ${session.id}`}
                    onClick={() => end([session])}
                  >
                    End
                  </Button>
                )
              }
            />
          ))}
        </Paper>
      )}
      <Text c="dimmed" size="sm">
        A login ends at once, with everything that its browser has open here. On a command line:{' '}
        <Code>lockstep dashboard sessions</Code>. Scripts have tokens: <Code>lockstep token list</Code>.
      </Text>
      <ActionResult state={state} forget={forget} />
    </View>
  );
}

function Login({ session, button }: { readonly session: Session; readonly button: ReactNode }) {
  const { id, isThis, browser, address, since, lastUsedAt } = session;
  return (
    <Group component="li" className={classes.item} justify="space-between" wrap="nowrap" gap="sm">
      <div>
        <Group gap="xs">
          <Text fw={600}>{browser ?? 'A browser'}</Text>
          {isThis && <Badge variant="default">this browser</Badge>}
        </Group>
        <Text c="dimmed" size="sm">
          {since === undefined ? (
            'logged in before an upgrade'
          ) : (
            <>
              logged in <Moment at={since} />
            </>
          )}
          {address !== undefined && ` from ${address}`}
          {lastUsedAt !== undefined && !isThis && (
            <>
              , last used <Moment at={lastUsedAt} />
            </>
          )}
          , {id}
        </Text>
      </div>
      {button}
    </Group>
  );
}

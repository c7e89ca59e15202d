import type { Notices, NoticeTest } from '@lockstep/shared/api';
import { formatDuration, formatNames } from '@lockstep/shared/present';
import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useStatus } from '../../live/status-context.ts';
import { askApi, useApi } from '../../live/use-api.ts';
import { ActionResult } from '../../parts/action-result.tsx';
import { switchNotices, useBrowserNotices } from '../../parts/browser-notices.ts';
import { Moment } from '../../parts/moment.tsx';
import { Failed } from '../../parts/notice.tsx';
import { useAction } from '../../parts/use-action.ts';

/** A command has 30 s. */
const testTimeoutMs = 60_000;

/** The targets of notices that need a person: this browser, and the webhook and the command of the settings. */
export function NoticePanel() {
  const { member } = useStatus();
  const { data, error, again } = useApi<Notices>('/notices');
  const { state, run, forget } = useAction();
  const test = (): void => {
    if (state.is === 'running') return;
    void run('Sending a test …', async () => {
      const { attempts } = await askApi<NoticeTest>('/notices/test', { method: 'POST', timeoutMs: testTimeoutMs });
      again();
      return testSentence(attempts);
    });
  };
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="notices">
      <Stack gap="sm">
        <Title order={2} size="h4" id="notices">
          Be told
        </Title>
        {data !== undefined && (
          <Text>
            You are told once of each cause: a member that is down for {formatDuration(data.afterMs / 1_000)}, a
            conflict, a disk that is full or fails, and any other grave problem.
          </Text>
        )}
        <BrowserNotices />
        {error !== undefined && data === undefined && <Failed error={error} again={again} />}
        {data?.targets.length === 0 && (
          <Text>
            {member.name} sends no notice while no page is open. Set <Code>notify_webhook</Code> or{' '}
            <Code>notify_command</Code> in its <Code>config.toml</Code>, and start its agent again.
          </Text>
        )}
        {data !== undefined && data.targets.length > 0 && (
          <Group justify="space-between" gap="xs">
            <div>
              {data.targets.map(({ target, what, last }) => (
                <Text key={target} style={{ overflowWrap: 'anywhere' }}>
                  The {target} {what}:{' '}
                  {last === undefined ? (
                    'nothing was sent since the agent started.'
                  ) : (
                    <>
                      {last.ok ? last.text : `failed. ${last.text}`} <Moment at={last.at} />
                    </>
                  )}
                </Text>
              ))}
              {data.about.length < 4 && (
                <Text c="dimmed" size="sm">
                  They are told about: {data.about.length === 0 ? 'nothing' : formatNames(data.about)}.
                </Text>
              )}
            </div>
            <Button variant="default" onClick={test} data-busy={state.is === 'running' || undefined}>
              Send a test
            </Button>
          </Group>
        )}
      </Stack>
      <ActionResult state={state} forget={forget} />
    </Paper>
  );
}

/** The result of a test as sentences. Throws it if one did not arrive. */
function testSentence(attempts: NoticeTest['attempts']): string {
  const text = attempts
    .map(({ target, ok, text }) => `The ${target} ${ok ? 'took the test' : 'failed'}: ${text}`)
    .join(' ');
  if (attempts.some(({ ok }) => !ok)) throw new Error(text);
  return text;
}

/** The switch for notifications of this browser. The browser is asked only when it is pressed. */
function BrowserNotices() {
  const isOn = useBrowserNotices();
  const { member } = useStatus();
  const [permission, setPermission] = useState(() => ('Notification' in window ? Notification.permission : undefined));
  if (permission === undefined || !window.isSecureContext) {
    return <Text>This browser shows notifications only for a page on this machine, or over https.</Text>;
  }
  const turnOn = async (): Promise<void> => {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    if (answer === 'granted') switchNotices(true);
  };
  const isTelling = isOn && permission === 'granted';
  return (
    <Group justify="space-between" gap="xs">
      <Text role="status">
        {permission === 'denied'
          ? 'This browser does not let this page show notifications. Allow them in its settings for this address.'
          : isTelling
            ? `This browser tells you while a page of ${member.name} is open in it, in one of its tabs.`
            : 'This browser does not tell you.'}
      </Text>
      <Group gap="xs">
        {isTelling && (
          <Button
            variant="default"
            onClick={() =>
              new Notification('This is a test', { body: `Lockstep, as ${member.name} sees it`, icon: '/favicon.svg' })
            }
          >
            Show a test
          </Button>
        )}
        {permission !== 'denied' && (
          <Button variant="default" onClick={isTelling ? () => switchNotices(false) : () => void turnOn()}>
            {isTelling ? 'Turn off in this browser' : 'Tell me in this browser'}
          </Button>
        )}
      </Group>
    </Group>
  );
}

import type { PauseResult, RescanResult, RetryResult } from '@lockstep/shared/api';
import { Button, Loader, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconChevronDown,
  IconFolderSearch,
  IconPlayerPause,
  IconPlayerPlay,
  IconReload,
  IconUsers,
} from '@tabler/icons-react';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useStatus } from '../live/status-context.ts';
import { askApi } from '../live/use-api.ts';
import { ActionResult } from '../parts/action-result.tsx';
import { pauseWarning, rescanSentence, retrySentence } from '../parts/action-sentences.ts';
import classes from '../parts/actions.module.css';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';

/** Long enough to compare a folder of many millions of files. */
const rescanTimeoutMs = 3_600_000;

/** The menu of actions on the member that serves the page. */
export function ActionMenu() {
  const { member, members, paused } = useStatus();
  const { state, run, forget } = useAction();
  const [isAsking, { open, close }] = useDisclosure(false);
  const button = useRef<HTMLButtonElement>(null);
  const isRunning = state.is === 'running';
  const connected = members.filter((other) => !other.self && other.connected).length;
  const answerPause = (isYes: boolean): void => {
    close();
    // The menu item that opened the dialog no longer exists: without this the focus would be lost.
    button.current?.focus();
    if (!isYes) return;
    void run(`Pausing ${member.name} …`, async () => {
      await askApi<PauseResult>('/pause', { method: 'POST' });
      return `${member.name} is paused.`;
    });
  };
  const resume = (): void => {
    void run(`Resuming ${member.name} …`, async () => {
      await askApi<PauseResult>('/resume', { method: 'POST' });
      return `${member.name} is resumed.`;
    });
  };
  const rescan = (): void => {
    void run(`Comparing the whole folder of ${member.name} …`, async () =>
      rescanSentence(await askApi<RescanResult>('/rescan', { method: 'POST', timeoutMs: rescanTimeoutMs })),
    );
  };
  const retry = (): void => {
    void run('Retrying …', async () => retrySentence(await askApi<RetryResult>('/retry', { method: 'POST' })));
  };
  return (
    <>
      <Menu position="bottom-end" withArrow shadow="md" disabled={isRunning}>
        <Menu.Target>
          <Button
            variant="default"
            px="sm"
            className={classes.open}
            ref={button}
            // Not `loading`, which disables the button: a disabled button cannot keep the focus.
            rightSection={isRunning ? <Loader size={16} /> : <IconChevronDown size={16} aria-hidden="true" />}
          >
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>On {member.name}</Menu.Label>
          <Menu.Item leftSection={<IconFolderSearch size={18} aria-hidden="true" />} onClick={rescan}>
            Rescan the folder
          </Menu.Item>
          <Menu.Item leftSection={<IconReload size={18} aria-hidden="true" />} onClick={retry}>
            Retry now
          </Menu.Item>
          <Menu.Divider />
          {paused ? (
            <Menu.Item leftSection={<IconPlayerPlay size={18} aria-hidden="true" />} onClick={resume}>
              Resume {member.name}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPause size={18} aria-hidden="true" />} onClick={open}>
              Pause {member.name} …
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item component={Link} href="/logins" leftSection={<IconUsers size={18} aria-hidden="true" />}>
            Logins
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        title={`Pause ${member.name}?`}
        isOpen={isAsking}
        confirm={`Pause ${member.name}`}
        cancel="Do not pause"
        isHarmful
        answer={answerPause}
      >
        <Text>{pauseWarning(member.name, connected)}</Text>
        <Text>It stays paused until a person resumes it, even if its agent is restarted.</Text>
      </ConfirmDialog>
      <ActionResult state={state} forget={forget} />
    </>
  );
}

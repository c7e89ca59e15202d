import { Affix, Notification } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import classes from './actions.module.css';
import type { Action } from './use-action.ts';

/** The running action or its result; the notification stays until the user closes it. */
export function ActionResult({ state, forget }: Pick<Action, 'state' | 'forget'>) {
  if (state.is === 'idle') return null;
  const isFailed = state.is === 'failed';
  return (
    <Affix position={{ bottom: 16, right: 16 }} className={classes.result}>
      <Notification
        withBorder
        role={isFailed ? 'alert' : 'status'}
        loading={state.is === 'running'}
        color={isFailed ? 'red' : 'teal'}
        icon={
          isFailed ? <IconAlertTriangle size={18} aria-hidden="true" /> : <IconCheck size={18} aria-hidden="true" />
        }
        title={isFailed ? 'That did not work' : undefined}
        withCloseButton={state.is !== 'running'}
        closeButtonProps={{ 'aria-label': 'Close' }}
        onClose={forget}
      >
        <span className={classes.said}>{state.text}</span>
      </Notification>
    </Affix>
  );
}

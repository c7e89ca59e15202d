import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** Says what something means before it is done, and asks. What does harm has the focus on the way back. */
export function ConfirmDialog({
  title,
  isOpen,
  confirm,
  cancel = 'Cancel',
  isHarmful = false,
  answer,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  /** What the button that goes on says. */
  readonly confirm: string;
  readonly cancel?: string;
  readonly isHarmful?: boolean;
  readonly answer: (isYes: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    // The library holds the page still by a style that the content security policy forbids.
    <Modal
      opened={isOpen}
      onClose={() => answer(false)}
      title={title}
      centered
      lockScroll={false}
      // The focus goes back at once, before what was answered moves it on.
      transitionProps={{ duration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">{children}</Stack>
      <Group justify="end" mt="lg" gap="xs">
        <Button variant="default" onClick={() => answer(false)} data-autofocus={isHarmful || undefined}>
          {cancel}
        </Button>
        <Button
          {...(isHarmful && { color: 'red.9' })}
          onClick={() => answer(true)}
          data-autofocus={!isHarmful || undefined}
        >
          {confirm}
        </Button>
      </Group>
    </Modal>
  );
}

import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** A dialog that explains an action and asks for confirmation. For a harmful action the cancel button has the focus. */
export function ConfirmDialog({
  title,
  isOpen,
  confirm,
  cancel = 'Cancel',
  isHarmful = false,
  isReady = true,
  answer,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  /** The label of the button that confirms. */
  readonly confirm: string;
  readonly cancel?: string;
  readonly isHarmful?: boolean;
  /** False while the dialog lacks what it asks for: it cannot be confirmed. */
  readonly isReady?: boolean;
  readonly answer: (isYes: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    // `lockScroll` is off: the library locks the page with a style that the content security policy forbids.
    <Modal
      opened={isOpen}
      onClose={() => answer(false)}
      title={title}
      centered
      lockScroll={false}
      // The focus returns at once, before the answer's own effects move it.
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
          disabled={!isReady}
          data-autofocus={!isHarmful || undefined}
        >
          {confirm}
        </Button>
      </Group>
    </Modal>
  );
}

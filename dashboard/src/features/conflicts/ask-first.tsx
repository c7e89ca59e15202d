import { Button, Group, Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Asks before something is done to many things at once. */
export function AskFirst({
  title,
  isAsked,
  confirm,
  answer,
  children,
}: {
  readonly title: string;
  readonly isAsked: boolean;
  /** What the button that goes on says. */
  readonly confirm: string;
  readonly answer: (isYes: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    // Locking the scroll bar would need a style element that the content security policy forbids.
    <Modal
      lockScroll={false}
      opened={isAsked}
      onClose={() => answer(false)}
      title={title}
      centered
      transitionProps={{ duration: 0 }}
    >
      <Text mb="md">{children}</Text>
      <Group justify="end" gap="xs">
        <Button variant="default" onClick={() => answer(false)}>
          Cancel
        </Button>
        <Button data-autofocus onClick={() => answer(true)}>
          {confirm}
        </Button>
      </Group>
    </Modal>
  );
}

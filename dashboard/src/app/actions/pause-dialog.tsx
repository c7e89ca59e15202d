import { Button, Group, Modal, Text } from '@mantine/core';
import { useStatus } from '../../live/status-context.ts';
import { pauseWarning } from './sentences.ts';

/** Says what a pause means before it is done. */
export function PauseDialog({
  isOpen,
  close,
  pause,
}: {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly pause: () => void;
}) {
  const { member, members } = useStatus();
  const connected = members.filter((other) => !other.self && other.connected).length;
  return (
    // The library holds the page still by a style that the content security policy forbids.
    <Modal
      opened={isOpen}
      onClose={close}
      title={`Pause ${member.name}?`}
      lockScroll={false}
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Text>{pauseWarning(member.name, connected)}</Text>
      <Text mt="sm">It stays paused until somebody resumes it, also when its agent is started again.</Text>
      <Group justify="end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          Do not pause
        </Button>
        <Button color="red.9" onClick={pause}>
          Pause {member.name}
        </Button>
      </Group>
    </Modal>
  );
}

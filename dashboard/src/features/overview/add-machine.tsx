import type { JoinRecipe } from '@lockstep/shared/api';
import { Button, Code, CopyButton, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useApi } from '../../live/use-api.ts';
import { Failed } from '../../parts/notice.tsx';
import classes from './overview.module.css';

const title = 'Add another machine';

/** Instructions for adding a machine: on the page while there is only one, else behind a button. */
export function AddMachine({ isAlone }: { readonly isAlone: boolean }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  if (isAlone) {
    return (
      <Paper withBorder p="md" component="section" aria-labelledby="add">
        <Title order={2} size="h4" id="add" mb="xs">
          {title}
        </Title>
        <Recipe />
      </Paper>
    );
  }
  return (
    <Group justify="flex-end">
      <Button variant="subtle" size="compact-md" leftSection={<IconPlus size={16} aria-hidden="true" />} onClick={open}>
        {title} …
      </Button>
      {/* `lockScroll` is off: the library locks the page with a style that the content security policy forbids. */}
      <Modal
        opened={isOpen}
        onClose={close}
        title={title}
        size="lg"
        lockScroll={false}
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Recipe />
      </Modal>
    </Group>
  );
}

function Recipe() {
  const { data, error, again } = useApi<JoinRecipe>('/join-recipe');
  if (data === undefined) return error === undefined ? null : <Failed error={error} again={again} />;
  const commands = data.commands.join('\n');
  return (
    <Stack gap="sm">
      <Text>{data.lead}</Text>
      <Code block className={classes.command}>
        {commands}
      </Code>
      <Group justify="space-between">
        <Text c="dimmed">It appears among the members as soon as it runs.</Text>
        {/* Browsers give pages without TLS no clipboard, except those of this machine. */}
        {navigator.clipboard !== undefined && (
          <CopyButton value={commands}>
            {({ copied, copy }) => (
              <Button variant="default" size="xs" onClick={copy}>
                {copied ? 'Copied' : 'Copy the commands'}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </Stack>
  );
}

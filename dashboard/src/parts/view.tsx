import { Box, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTab } from './use-tab.ts';

/** The frame of a view: its title, its actions and its content. */
export function View({
  title,
  aside,
  actions,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  useTab(title);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="end" gap="sm">
        {/* A fixed basis, so that the place of the actions does not depend on the length of the text next to them. */}
        <Box flex="1 1 16rem" miw={0}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {aside !== undefined && (
            <Text c="dimmed" component="div">
              {aside}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

import { Alert, Box, Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** The notice of a view that has nothing to show: what that means, and what would change it. */
export function Empty({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Title order={2} size="h4" mb={4}>
        {title}
      </Title>
      <Text c="dimmed" maw="34rem" mx="auto" style={{ textWrap: 'balance' }}>
        {children}
      </Text>
      {actions !== undefined && <Box mt="md">{actions}</Box>}
    </Paper>
  );
}

/** The alert for a failed request. `again` repeats it. */
export function Failed({ error, again }: { readonly error: string; readonly again?: (() => void) | undefined }) {
  return (
    <Alert color="red" variant="outline" role="alert" title="This could not be loaded">
      <Group justify="space-between" gap="sm">
        <Text style={{ overflowWrap: 'anywhere' }}>{error}</Text>
        {again && (
          <Button variant="default" size="xs" onClick={again}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** A placeholder for content that is loading. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <Stack gap="xs" aria-busy="true" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <Skeleton key={row} height={36} />
      ))}
    </Stack>
  );
}

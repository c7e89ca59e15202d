import type { LoginWays, Summary } from '@lockstep/shared/api';
import { Code, Paper, Stack, Text, Title } from '@mantine/core';
import { useApi } from '../live/use-api.ts';
import { useTab } from '../parts/use-tab.ts';
import { PasswordForm } from './password-form.tsx';

/** The page for a browser that is not logged in: it says how to get in. */
export function Locked() {
  const { data } = useApi<Summary>('/summary');
  const { data: ways } = useApi<LoginWays>('/login');
  useTab('Log in');
  const name = data?.member.name;
  return (
    <Paper withBorder p="xl" maw="42rem" mx="auto" w="100%">
      <Stack gap="sm">
        <Title order={1} size="h3">
          This browser is not logged in{name === undefined ? '' : ` to ${name}`}
        </Title>
        <Text>
          The dashboard shows names and contents of files, so it is only for the user whose agent this is. As that user,
          on the machine of {name ?? 'this member'}, run:
        </Text>
        <Code block fz="sm">
          lockstep dashboard DIR
        </Code>
        <Text>
          DIR is the folder of {name ?? 'this member'}. The command gives a link that logs a browser in. Each link works
          once, within ten minutes. This page then continues automatically.
        </Text>
        {ways?.password === true && <PasswordForm />}
      </Stack>
    </Paper>
  );
}

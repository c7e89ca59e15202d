import { Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { askApi, sentenceOf } from '../live/use-api.ts';

/** Logs this browser in with the password of the dashboard. The page continues when the status is next read. */
export function PasswordForm() {
  const [password, setPassword] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const logIn = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    await askApi('/login', { method: 'POST', body: { password } }).catch((reason: unknown) => {
      setError(sentenceOf(reason));
    });
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void logIn(event)}>
      <Text mb="xs">Or give the password of this dashboard:</Text>
      <Group align="flex-start" gap="sm">
        <TextInput
          type="password"
          aria-label="Password"
          autoComplete="current-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          aria-invalid={error !== undefined}
          flex={1}
          miw="12rem"
        />
        <Button type="submit" variant="default" loading={isBusy} disabled={password === ''}>
          Log in
        </Button>
      </Group>
      {error !== undefined && (
        <Text mt="xs" fw={600} role="alert">
          {error}
        </Text>
      )}
    </form>
  );
}

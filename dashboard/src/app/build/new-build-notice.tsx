import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAnswering } from '../../live/status-context.ts';
import { newerBuild } from './newer-build.ts';
import { isReaderBusy, mayReloadFor } from './reload-rule.ts';

/** The interval at which it is checked whether the reader is still busy. */
const checkMs = 1_000;

/**
 * Reloads the page when its agent serves a newer one, which happens only after a restart. While the reader types or has a
 * dialog open, and if a reload did not help, a notice offers the reload instead.
 */
export function NewBuildNotice() {
  const startedAt = useAnswering();
  const [build, setBuild] = useState<string>();
  useEffect(() => {
    if (startedAt === undefined) return;
    let isCurrent = true;
    void newerBuild().then((newer) => isCurrent && setBuild(newer));
    return () => {
      isCurrent = false;
    };
  }, [startedAt]);
  useEffect(() => {
    if (build === undefined) return;
    const check = (): boolean => {
      if (isReaderBusy(document)) return false;
      if (mayReloadFor(build, memoryOfSession())) location.reload();
      return true;
    };
    if (check()) return;
    const timer = setInterval(() => check() && clearInterval(timer), checkMs);
    return () => clearInterval(timer);
  }, [build]);
  if (build === undefined) return null;
  return (
    <Alert color="cyan" variant="outline" role="status" title="The agent serves a newer version of this page">
      <Group justify="space-between" gap="sm">
        <Text>It is loaded when you have finished what you are doing.</Text>
        <Button variant="default" size="xs" onClick={() => location.reload()}>
          Reload now
        </Button>
      </Group>
    </Alert>
  );
}

function memoryOfSession(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAnswering } from '../../live/status-context.ts';
import { isReaderBusy, mayReloadFor } from './reload-rule.ts';

const timeoutMs = 5_000;
/** The interval at which it is checked whether the reader is still busy. */
const checkMs = 1_000;
/** The interval at which the agent is asked for its page until that could be read. */
const askAgainMs = 5_000;

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
    let again: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      const newer = await newerBuild();
      if (!isCurrent) return;
      if (newer === undefined) again = setTimeout(ask, askAgainMs);
      else setBuild(newer ?? undefined);
    };
    void ask();
    return () => {
      isCurrent = false;
      clearTimeout(again);
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

/** The address of the script that a page of the dashboard begins with. The build puts a hash of all scripts into its name. */
function mainScriptOf(page: Document): string | undefined {
  return page.querySelector('script[type="module"][src]')?.getAttribute('src') ?? undefined;
}

/**
 * The main script of the page that the agent serves now, if it is another than that of this page; null if it is the same. Undefined if that
 * cannot be known now, or the script cannot be loaded yet: while a new version is being installed, the page and the files that it names may
 * not belong together.
 */
async function newerBuild(): Promise<string | null | undefined> {
  try {
    const answer = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) return undefined;
    const served = mainScriptOf(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    if (served === undefined || served === mainScriptOf(document)) return null;
    const script = await fetch(served, { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) });
    return script.ok ? served : undefined;
  } catch {
    return undefined;
  }
}

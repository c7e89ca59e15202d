import type { Status } from '@lockstep/shared/api';
import {
  ActionIcon,
  Button,
  Group,
  Skeleton,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { Suspense } from 'react';
import { Link } from 'wouter';
import { StatusProvider, useAnswering } from '../live/status-context.ts';
import { Boundary } from '../parts/boundary.tsx';
import { Lazy, lazyPart } from '../parts/lazy-part.tsx';
import classes from './page-header.module.css';

/** The menu of actions, which is not part of the first load. */
export const actionMenu = lazyPart(async () => (await import('./action-menu.tsx')).ActionMenu);

/** The header: the page's name, the member that serves it, the menu of actions, and the switch between light and dark. */
export function PageHeader({ status }: { readonly status: Status | undefined }) {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const answering = useAnswering();
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <Group justify="space-between" wrap="nowrap" className={classes.header}>
      <Link href="/" className={classes.name}>
        <img src="/favicon.svg" alt="" width={24} height={24} />
        <Text component="span" fw={700} size="lg">
          Lockstep
        </Text>
      </Link>
      <Group gap="sm" wrap="nowrap" className={classes.aside}>
        {status !== undefined && (
          <Text c="dimmed" size="sm" truncate visibleFrom="xs" title={status.member.folder}>
            as {status.member.name} sees it
          </Text>
        )}
        {status !== undefined && (
          <StatusProvider value={status}>
            <Boundary
              retryOn={answering}
              beforeRetry={actionMenu.forget}
              fallback={(_error, again) => (
                <Button variant="default" px="sm" title="The actions could not be loaded: try again" onClick={again}>
                  Actions
                </Button>
              )}
            >
              <Suspense fallback={<Skeleton width={104} height={36} />}>
                <Lazy part={actionMenu} />
              </Suspense>
            </Boundary>
          </StatusProvider>
        )}
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={`Switch to the ${other} colours`}
          title={`Switch to the ${other} colours`}
          onClick={() => setColorScheme(other)}
        >
          {scheme === 'dark' ? <IconSun size={18} aria-hidden="true" /> : <IconMoon size={18} aria-hidden="true" />}
        </ActionIcon>
      </Group>
    </Group>
  );
}

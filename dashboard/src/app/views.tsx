import { Button, Group } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { useAnswering } from '../live/status-context.ts';
import { Boundary } from '../parts/boundary.tsx';
import { Lazy, type LazyPart, lazyPart, NotLoaded } from '../parts/lazy-part.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { View } from '../parts/view.tsx';

/** The views that are not part of the first load. */
export const lazyViews = {
  health: lazyPart(async () => (await import('../features/health/health.tsx')).Health),
  latency: lazyPart(async () => (await import('../features/latency/latency.tsx')).Latency),
  files: lazyPart(async () => (await import('../features/files/files.tsx')).Files),
  operations: lazyPart(async () => (await import('../features/operations/operations.tsx')).Operations),
  conflicts: lazyPart(async () => (await import('../features/conflicts/conflicts.tsx')).Conflicts),
  transfers: lazyPart(async () => (await import('../features/transfers/transfers.tsx')).Transfers),
  logins: lazyPart(async () => (await import('../features/logins/logins.tsx')).Logins),
  problems: lazyPart(async () => (await import('../features/problems/problems.tsx')).Problems),
  ignoreRules: lazyPart(async () => (await import('../features/settings/ignore-rules.tsx')).IgnoreRules),
  settings: lazyPart(async () => (await import('../features/settings/settings.tsx')).Settings),
} as const;

/** Notifications in the browser, in files that only a browser in which they are turned on loads. */
export const noticeWatch = lazyPart(async () => (await import('./notice-watch.tsx')).NoticeWatch);

/** A view in files of its own. */
export function LazyView({ title, part }: { readonly title: string; readonly part: LazyPart }) {
  return (
    <ViewBoundary title={title} beforeRetry={part.forget}>
      <Suspense
        fallback={
          <View title={title}>
            <Loading />
          </View>
        }
      >
        <Lazy part={part} />
      </Suspense>
    </ViewBoundary>
  );
}

/** A view that cannot be loaded or throws says so in its own place, and is tried again when the agent is back. */
export function ViewBoundary({
  title,
  beforeRetry,
  children,
}: {
  readonly title: string;
  readonly beforeRetry?: () => void;
  readonly children: ReactNode;
}) {
  const answering = useAnswering();
  return (
    <Boundary
      retryOn={answering}
      {...(beforeRetry && { beforeRetry })}
      fallback={(error, again) => (
        <View title={title}>
          <Broken error={error} again={again} isSilent={answering === undefined} />
        </View>
      )}
    >
      {children}
    </Boundary>
  );
}

function Broken({ error, again, isSilent }: { error: unknown; again: () => void; isSilent: boolean }) {
  const isMissing = error instanceof NotLoaded;
  return (
    <Empty
      title={isMissing ? 'This view is not loaded yet' : 'This view has failed'}
      actions={
        <Group justify="center" gap="xs">
          <Button variant="default" onClick={again}>
            Try again
          </Button>
          {!isSilent && (
            <Button variant="default" onClick={() => location.reload()}>
              Reload the page
            </Button>
          )}
        </Group>
      }
    >
      {!isMissing && `${error instanceof Error ? error.message : String(error)}. The other views are not affected.`}
      {isMissing && isSilent && 'The agent of this machine does not answer. The view is loaded as soon as it is back.'}
      {isMissing && !isSilent && 'Its files could not be loaded from the agent. The other views are not affected.'}
    </Empty>
  );
}

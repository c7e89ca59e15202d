import { formatCount, formatDuration } from '@lockstep/shared/present';
import { Alert, AppShell, Badge, Burger, Code, Group, Indicator, NavLink, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { Suspense, useEffect, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { Overview, tiles } from '../features/overview/overview.tsx';
import { StatusProvider, useStatusFeed } from '../live/status-context.ts';
import { Boundary } from '../parts/boundary.tsx';
import { useBrowserNotices } from '../parts/browser-notices.ts';
import { Lazy } from '../parts/lazy-part.tsx';
import { Empty } from '../parts/notice.tsx';
import classes from './app.module.css';
import { loadWhenIdle } from './build/load-when-idle.ts';
import { NewBuildNotice } from './build/new-build-notice.tsx';
import { ClusterBanner } from './cluster-banner.tsx';
import { Locked } from './locked.tsx';
import { menuOf } from './navigation.ts';
import { actionMenu, PageHeader } from './page-header.tsx';
import { LazyView, lazyViews, noticeWatch, ViewBoundary } from './views.tsx';

/** The page: the sentence on the cluster's condition, which is always present, and the views. */
export function App() {
  const { status, silentSince, isLocked } = useStatusFeed();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new location closes the menu on a narrow screen
  useEffect(close, [location]);
  const areNoticesOn = useBrowserNotices();
  const isNarrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false });
  const menu = menuOf(status, isNarrow);
  const urgent = menu.reduce((sum, { open }) => sum + open, 0);
  const isKnown = status !== undefined;
  // After the first status: the agent serves the view in sight before the others.
  useEffect(
    () =>
      isKnown
        ? loadWhenIdle([actionMenu, tiles, ...Object.values(lazyViews)].map(({ preload }) => preload))
        : undefined,
    [isKnown],
  );
  return (
    <AppShell
      header={{ height: 56 }}
      {...(!isLocked && { navbar: { width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } } })}
      padding="md"
    >
      <a className={classes.skip} href="#main">
        Skip to the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" gap="sm" wrap="nowrap">
          {/* The closed menu of a narrow screen hides its numbers. Without a login there are no views. */}
          {!isLocked && (
            <Indicator
              hiddenFrom="sm"
              label={shortCount(urgent)}
              size={18}
              color="red.9"
              disabled={urgent === 0}
              zIndex="auto"
            >
              <Burger
                opened={isOpen}
                onClick={toggle}
                size="sm"
                aria-label={urgent === 0 ? 'Menu' : `Menu, ${formatCount(urgent)} to look at`}
                aria-expanded={isOpen}
              />
            </Indicator>
          )}
          <PageHeader status={status} />
        </Group>
      </AppShell.Header>
      {!isLocked && (
        <AppShell.Navbar
          p="xs"
          component="nav"
          aria-label="Views"
          className={classes.views}
          data-open={isOpen || undefined}
        >
          <Menu menu={menu} />
        </AppShell.Navbar>
      )}
      <AppShell.Main id="main" tabIndex={-1}>
        <Stack gap="md" className={classes.content}>
          <NewBuildNotice />
          {silentSince !== undefined && <Silence since={silentSince} isKnown={status !== undefined} />}
          {status !== undefined ? (
            <StatusProvider value={status}>
              <ClusterBanner isStale={silentSince !== undefined} />
              {areNoticesOn && (
                <Boundary retryOn={silentSince} beforeRetry={noticeWatch.forget} fallback={() => null}>
                  <Suspense fallback={null}>
                    <Lazy part={noticeWatch} />
                  </Suspense>
                </Boundary>
              )}
              <Views />
            </StatusProvider>
          ) : isLocked ? (
            <Locked />
          ) : (
            silentSince === undefined && <Waiting />
          )}
        </Stack>
      </AppShell.Main>
    </AppShell>
  );
}

/** The links to the views, each with the number of things to look at there. */
function Menu({ menu }: { readonly menu: ReturnType<typeof menuOf> }) {
  const [location] = useLocation();
  return (
    <>
      {menu.map(({ href, title, icon: PlaceIcon, open }) => {
        const isHere = href === '/' ? location === '/' : location.startsWith(href);
        return (
          <NavLink
            key={href}
            component={Link}
            href={href}
            label={title}
            active={isHere}
            aria-current={isHere ? 'page' : undefined}
            leftSection={<PlaceIcon size={18} stroke={1.7} aria-hidden="true" />}
            rightSection={
              open > 0 ? (
                <Badge color="red" title={formatCount(open)}>
                  {shortCount(open)}
                </Badge>
              ) : undefined
            }
          />
        );
      })}
    </>
  );
}

/** The view of the present address. */
function Views() {
  return (
    <Switch>
      <Route path="/">
        <ViewBoundary title="Overview">
          <Overview />
        </ViewBoundary>
      </Route>
      <Route path="/health">
        <LazyView title="Health" part={lazyViews.health} />
      </Route>
      <Route path="/latency">
        <LazyView title="Latency" part={lazyViews.latency} />
      </Route>
      <Route path="/conflicts">
        <LazyView title="Conflicts" part={lazyViews.conflicts} />
      </Route>
      {/* A regular expression: in a pattern the rest of a path could not contain a newline. */}
      <Route path={/^\/files(?:\/|$)/}>
        <LazyView title="Files" part={lazyViews.files} />
      </Route>
      <Route path="/transfers">
        <LazyView title="Transfers" part={lazyViews.transfers} />
      </Route>
      <Route path="/operations">
        <LazyView title="Operations" part={lazyViews.operations} />
      </Route>
      <Route path="/logins">
        <LazyView title="Logins" part={lazyViews.logins} />
      </Route>
      <Route path="/problems">
        <LazyView title="Problems" part={lazyViews.problems} />
      </Route>
      <Route path="/settings/ignore-rules">
        <LazyView title="Ignore rules" part={lazyViews.ignoreRules} />
      </Route>
      <Route path="/settings">
        <LazyView title="Settings" part={lazyViews.settings} />
      </Route>
      <Route>
        <Empty title="There is nothing at this address">The link may be incomplete. The views are in the menu.</Empty>
      </Route>
    </Switch>
  );
}

/** More than this has no room next to the name of a view, and on the button of the menu. */
const countShownMax = 999;

/** `12`, `999+`. */
function shortCount(count: number): string {
  return count > countShownMax ? `${countShownMax}+` : String(count);
}

/** The alert for an agent that does not answer: for how long, and what to do. */
function Silence({ since, isKnown }: { readonly since: number; readonly isKnown: boolean }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Alert color="red" variant="outline" role="alert" title="The agent of this machine does not answer">
      <Text>
        Not heard for {formatDuration(Math.max(1_000, now - since) / 1_000)}. If it was stopped, start it again with{' '}
        <Code>lockstep up</Code> in its folder. This page reconnects automatically
        {isKnown ? '; it shows the last known state, which may be out of date.' : '.'}
      </Text>
    </Alert>
  );
}

function Waiting() {
  return (
    <Stack aria-busy="true" aria-label="Asking the agent">
      <Skeleton height={34} width="60%" />
      <Skeleton height={20} width="40%" />
      <Skeleton height={180} />
    </Stack>
  );
}

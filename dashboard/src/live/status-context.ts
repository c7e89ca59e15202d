import type { Status } from '@lockstep/shared/api';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { type Feed, StatusFeed } from './status-feed.ts';

const feed = new StatusFeed();

/** The last known status of the agent that served this page, and since when the agent is silent. */
export function useStatusFeed(): Feed {
  return useSyncExternalStore(feed.subscribe, feed.get);
}

/** A value that changes when the agent answers again or was restarted; undefined while it is silent. */
export function useAnswering(): number | undefined {
  const { status, silentSince } = useStatusFeed();
  return silentSince === undefined ? status?.member.startedAt : undefined;
}

const StatusContext = createContext<Status | undefined>(undefined);

/** Provides the status to the views, which are shown only when there is one. */
export const StatusProvider = StatusContext.Provider;

/** The newest status. Throws outside of the views. */
export function useStatus(): Status {
  const status = useContext(StatusContext);
  if (status === undefined) throw new Error('a view was shown without a status');
  return status;
}

import type { Status } from '@lockstep/shared/api';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { type Feed, StatusFeed } from './status-feed.ts';

const feed = new StatusFeed();

/** The status of the agent that served this page, as it was last heard, and since when it is silent. */
export function useStatusFeed(): Feed {
  return useSyncExternalStore(feed.subscribe, feed.get);
}

const StatusContext = createContext<Status | undefined>(undefined);

/** Holds the status for the views; they are shown only when there is one. */
export const StatusProvider = StatusContext.Provider;

/** The newest status. Throws outside of the views. */
export function useStatus(): Status {
  const status = useContext(StatusContext);
  if (status === undefined) throw new Error('a view was shown without a status');
  return status;
}

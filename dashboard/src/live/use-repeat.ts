import { useEffect } from 'react';
import { useStatusFeed } from './status-context.ts';

/** While `isUnanswered`, calls `again` each time the agent answers with its status: what failed while it was away would else stay so. */
export function useRepeat(isUnanswered: boolean, again: () => void): void {
  const { status } = useStatusFeed();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a failure alone asks for nothing, the next status does
  useEffect(() => {
    if (isUnanswered) again();
  }, [status]);
}

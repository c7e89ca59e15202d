import { clusterVerdict } from '@lockstep/shared/present';
import { useEffect, useMemo } from 'react';
import { useStatusFeed } from '../live/status-context.ts';
import { type TabTone, tabIcon, tabTitle } from './tab-face.ts';

/** Gives the browser's tab the title and the icon of a view and of the cluster's state. */
export function useTab(view: string): void {
  const { status, silentSince } = useStatusFeed();
  const verdict = useMemo(() => status && clusterVerdict(status), [status]);
  const isSilent = silentSince !== undefined;
  const title = tabTitle(view, verdict, isSilent);
  const tone: TabTone = isSilent ? 'stale' : (verdict?.tone ?? 'good');
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', tabIcon(tone));
  }, [tone]);
}

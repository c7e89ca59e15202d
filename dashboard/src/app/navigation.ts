import type { Status } from '@lockstep/shared/api';
import { problemItemCount } from '@lockstep/shared/present';
import {
  type Icon,
  IconActivity,
  IconAlertTriangle,
  IconArrowsExchange,
  IconArrowsSplit2,
  IconFolder,
  IconHeartbeat,
  IconServer,
  IconSettings,
  IconTransfer,
} from '@tabler/icons-react';

export interface Place {
  readonly href: string;
  readonly title: string;
  readonly icon: Icon;
  /** The number of items that need attention; shown next to the title when it is not 0. */
  readonly count?: (status: Status) => number;
}

/** The views, in the order of the menu. */
const places: readonly Place[] = [
  { href: '/', title: 'Overview', icon: IconServer },
  { href: '/health', title: 'Health', icon: IconHeartbeat },
  { href: '/latency', title: 'Latency', icon: IconArrowsExchange },
  { href: '/files', title: 'Files', icon: IconFolder },
  { href: '/operations', title: 'Operations', icon: IconActivity },
  { href: '/conflicts', title: 'Conflicts', icon: IconArrowsSplit2, count: (status) => status.conflictCopies },
  { href: '/transfers', title: 'Transfers', icon: IconTransfer },
  { href: '/problems', title: 'Problems', icon: IconAlertTriangle, count: problemItemCount },
  { href: '/settings', title: 'Settings', icon: IconSettings },
];

/** The entries of the menu with their numbers. If the menu covers the page (`isNarrow`), those that need attention come first. */
export function menuOf(status: Status | undefined, isNarrow: boolean): readonly (Place & { readonly open: number })[] {
  const entries = places.map((place) => ({ ...place, open: status === undefined ? 0 : (place.count?.(status) ?? 0) }));
  return isNarrow ? entries.toSorted((a, b) => Number(b.open > 0) - Number(a.open > 0)) : entries;
}

import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import type { FeedState } from './feed-model.ts';
import type { FeedRows } from './feed-rows.ts';
import type { OperationFeed } from './operation-feed.ts';

const wideLinePixels = 40;
const narrowLinePixels = 60;
/** Below this width each line has two rows of text. */
const narrow = '(max-width: 61.99em)';
/** The number of lines rendered above and below those in sight, so that quick scrolling shows no gap. */
const overscan = 6;
/** Older operations are requested when fewer lines than this are left. */
const linesAhead = 30;

/** The lines of the feed that exist. */
interface FeedLines {
  readonly lines: readonly VirtualItem[];
  /** The height of all lines, in pixels. */
  readonly heightPixels: number;
  /**
   * The maximum number of lines that exist at one time. A line that scrolls out of sight leaves its element to the next one. So scrolling
   * changes the text of elements instead of creating new ones.
   */
  readonly places: number;
}

/** Keeps the lines in sight. Requests older operations before the last line, and goes to the top when the feed follows the newest. */
export function useFeedLines({
  feed,
  state,
  rows,
  scroller,
}: {
  readonly feed: OperationFeed;
  readonly state: FeedState;
  readonly rows: FeedRows;
  readonly scroller: RefObject<HTMLElement | null>;
}): FeedLines {
  const isNarrow = useMediaQuery(narrow, false, { getInitialValueInEffect: false });
  const linePixels = isNarrow ? narrowLinePixels : wideLinePixels;
  const virtualizer = useVirtualizer({
    count: rows.count + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePixels,
    overscan,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the measured heights depend on the width
  useEffect(() => virtualizer.measure(), [linePixels]);

  const lines = virtualizer.getVirtualItems();
  const lastLine = lines.at(-1)?.index ?? 0;
  const isNearEnd = rows.count - lastLine < linesAhead;
  useEffect(() => {
    if (isNearEnd && state.end === 'more' && state.error === undefined) feed.loadOlder();
  }, [feed, isNearEnd, state.end, state.error]);

  // Here, so that the view's own "Follow" button has the same effect.
  useEffect(() => {
    if (state.isFollowing) scroller.current?.scrollTo({ top: 0 });
  }, [scroller, state.isFollowing]);

  const places = Math.ceil((virtualizer.scrollRect?.height ?? 0) / linePixels) + 2 * overscan + 2;
  return { lines, heightPixels: virtualizer.getTotalSize(), places };
}

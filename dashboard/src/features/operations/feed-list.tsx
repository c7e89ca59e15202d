import { formatCount } from '@lockstep/shared/present';
import { Button } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { type Dispatch, type SetStateAction, useRef } from 'react';
import { FeedLine } from './feed-line.tsx';
import classes from './feed-list.module.css';
import { type FeedState, feedOperationsMax } from './feed-model.ts';
import { FeedRows } from './feed-rows.ts';
import type { OperationFeed } from './operation-feed.ts';
import { useFeedLines } from './use-feed-lines.ts';

/** Scrolling further down than this pauses the feed. */
const topPixels = 8;

const ends: Record<FeedState['end'], string> = {
  more: '',
  loading: 'Reading older operations…',
  beginning: 'The journal of this member begins here.',
  full: `The feed holds ${formatCount(feedOperationsMax)} operations. The history of a path goes further back.`,
};

/** The list of the feed's lines, of which only those in sight exist. */
export function FeedList({
  feed,
  state,
  open,
  setOpen,
  chosen,
  choose,
}: {
  readonly feed: OperationFeed;
  readonly state: FeedState;
  /** The rows of the open groups' items. The view keeps them: a filter that matches nothing removes the list. */
  readonly open: ReadonlySet<number>;
  readonly setOpen: Dispatch<SetStateAction<ReadonlySet<number>>>;
  readonly chosen: string | undefined;
  readonly choose: (operation: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = new FeedRows(feed.list, open);
  const { lines, heightPixels, places } = useFeedLines({ feed, state, rows, scroller });

  const toggle = (row: number): void => {
    feed.pause();
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(row)) after.add(row);
      return after;
    });
  };

  return (
    <div className={classes.frame}>
      {!state.isFollowing && state.waiting > 0 && (
        <Button
          className={classes.news}
          radius="xl"
          size="xs"
          leftSection={<IconArrowUp size={14} aria-hidden="true" />}
          onClick={() => feed.follow()}
        >
          {formatCount(state.waiting)} new
        </Button>
      )}
      <section
        ref={scroller}
        className={classes.scroller}
        aria-label="Operations, newest first"
        onScroll={({ currentTarget }) => {
          if (currentTarget.scrollTop > topPixels) feed.pause();
        }}
        // A line that moves under the pointer cannot be chosen.
        onPointerDown={() => feed.pause()}
      >
        <Head />
        <ol className={classes.lines} style={{ height: heightPixels }}>
          {lines.map(({ index, start, size }) => {
            const row = rows.at(index);
            return (
              <li
                key={index % places}
                className={classes.place}
                aria-setsize={rows.count}
                aria-posinset={index + 1}
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                {row === undefined ? (
                  <span className={classes.end}>{ends[state.end]}</span>
                ) : (
                  <FeedLine row={row} chosen={chosen} choose={choose} toggle={toggle} />
                )}
              </li>
            );
          })}
        </ol>
      </section>
    </div>
  );
}

/** The titles of the columns. */
function Head() {
  return (
    <div className={classes.head} aria-hidden="true">
      <span>What</span>
      <span>Path</span>
      <span>Who</span>
      <span>When</span>
      <span className={classes.size}>Size</span>
    </div>
  );
}

import type { EventsPage, EventsQuery } from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** One page of the kept events with a number above `after`, oldest first. */
export function readEvents({ context: { journal } }: Engine, { after, limit }: EventsQuery): EventsPage {
  const [oldest] = journal.events.after(0, 1);
  const last = journal.events.lastNumber();
  const events = journal.events
    .after(after, limit)
    .map(({ number, at, kind, data }) => ({ number, at, kind, data: { ...data } }));
  return { events, oldest: oldest?.number ?? last + 1, last };
}

import type { LiveMessage } from '@lockstep/shared/api';
import type { WebSocket } from 'ws';
import type { Engine } from '../../sync/engine.ts';
import type { Log } from '../../sync/ports/log.ts';
import { livePageEvents } from '../limits.ts';
import { readEvents } from '../queries/events.ts';
import { type Batch, startPump } from './socket-pump.ts';

/**
 * Sends the events after number `after` (by default from now on) to `socket`, first the old ones, then each as it happens.
 *
 * The journal is the only queue: a wake-up signals new events, and each page is read from the end of the last one. So no event is lost or
 * sent twice between the old ones and the new ones.
 */
export function streamEvents(socket: WebSocket, engine: Engine, after: number | undefined, log: Log): void {
  let sent = after ?? readEvents(engine, { after: 0, limit: 1 }).last;
  let live = false;

  const next = (): Batch<LiveMessage> => {
    const messages: LiveMessage[] = [];
    let page = readEvents(engine, { after: sent, limit: livePageEvents });
    // A number above the last one is from a journal that was lost since.
    if (sent > page.last || sent + 1 < page.oldest) {
      messages.push({ type: 'gap', oldest: page.oldest });
      sent = page.oldest - 1;
      page = readEvents(engine, { after: sent, limit: livePageEvents });
    }
    for (const event of page.events) messages.push({ type: 'event', event });
    sent = page.events.at(-1)?.number ?? sent;
    if (page.events.length === 0 && !live) {
      live = true;
      messages.push({ type: 'live', last: sent });
    }
    return { messages, againMs: 0 };
  };

  const wake = startPump(socket, next, 'events', log);
  socket.once(
    'close',
    engine.events.onAdded(() => wake(0)),
  );
}

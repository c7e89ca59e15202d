import type { LiveMessage } from '@lockstep/shared/api';
import type { WebSocket } from 'ws';
import type { Log } from '../sync/ports/log.ts';
import type { AgentFacade } from './facade.ts';
import { livePageEvents } from './limits.ts';

/**
 * Sends the events after number `after` (without one: from now on) to `socket`, first the old ones, then each as it happens.
 *
 * The journal is the only queue: a wake-up says that there is more, and the next page is read from where the last one ended.
 * So nothing is left out or sent twice at the seam between old and new, and a slow reader holds one page in memory.
 */
export function streamEvents(socket: WebSocket, facade: AgentFacade, after: number | undefined, log: Log): void {
  let sent = after ?? facade.events({ after: 0, limit: 1 }).last;
  let sending = false;
  let scheduled = false;
  let live = false;

  const say = (message: LiveMessage, done?: (error?: Error | null) => void) => {
    socket.send(JSON.stringify(message), done);
  };

  const pump = () => {
    if (sending || socket.readyState !== socket.OPEN) return;
    let page = facade.events({ after: sent, limit: livePageEvents });
    // A number above the last one comes from a journal that was lost since.
    if (sent > page.last || sent + 1 < page.oldest) {
      say({ type: 'gap', oldest: page.oldest });
      sent = page.oldest - 1;
      page = facade.events({ after: sent, limit: livePageEvents });
    }
    const last = page.events.at(-1);
    if (last === undefined) {
      if (!live) say({ type: 'live', last: sent });
      live = true;
      return;
    }
    sending = true;
    sent = last.number;
    for (const event of page.events) {
      say(
        { type: 'event', event },
        event !== last
          ? undefined
          : (error) => {
              sending = false;
              if (error === undefined || error === null) wake();
            },
      );
    }
  };

  const wake = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      // Nobody waits for this call: what it throws must not end the agent.
      try {
        pump();
      } catch (error) {
        log.error({ error }, 'a stream of live events failed');
        socket.close(1011, 'the events cannot be read');
      }
    });
  };
  socket.once('close', facade.onEvents(wake));
  wake();
}

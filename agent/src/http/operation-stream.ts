import { type LiveOperationsMessage, liveOperationsMax } from '@lockstep/shared/api';
import type { WebSocket } from 'ws';
import type { Log } from '../sync/ports/log.ts';
import type { OperationsFacade } from './facade.ts';
import { liveGatherMs } from './limits.ts';

/**
 * Sends the operations after row `after` (without one: from now on) to `socket`, in batches. As with events the journal is the only
 * queue: nothing is left out or sent twice, and a slow reader holds one batch in memory.
 */
export function streamOperations(
  socket: WebSocket,
  facade: OperationsFacade,
  after: number | undefined,
  log: Log,
): void {
  let sent: number | undefined;
  let sending = false;
  let live = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const say = (message: LiveOperationsMessage, done?: (error?: Error | null) => void) => {
    socket.send(JSON.stringify(message), done);
  };

  const pump = () => {
    if (sending || socket.readyState !== socket.OPEN) return;
    // A row above the last one comes from a journal that was lost since.
    sent ??= Math.min(after ?? Number.MAX_SAFE_INTEGER, facade.operations({ limit: 1 }).operations[0]?.row ?? 0);
    const { operations } = facade.operations({ after: sent, limit: liveOperationsMax });
    const last = operations.at(-1);
    if (last === undefined) {
      if (!live) say({ type: 'live', last: sent });
      live = true;
      return;
    }
    sending = true;
    sent = last.row;
    say({ type: 'operations', operations }, (error) => {
      sending = false;
      if (error === undefined || error === null) wake(operations.length < liveOperationsMax ? liveGatherMs : 0);
    });
  };

  const wake = (delayMs: number) => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      // Nobody waits for this call: what it throws must not end the agent.
      try {
        pump();
      } catch (error) {
        log.error({ error }, 'a stream of live operations failed');
        socket.close(1011, 'the operations cannot be read');
      }
    }, delayMs);
  };

  const forget = facade.onJournaled(() => wake(liveGatherMs));
  socket.once('close', () => {
    forget();
    clearTimeout(timer);
  });
  wake(0);
}

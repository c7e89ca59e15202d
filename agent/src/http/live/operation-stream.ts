import { type LiveOperationsMessage, liveOperationsMax } from '@lockstep/shared/api';
import type { WebSocket } from 'ws';
import type { Engine } from '../../sync/engine.ts';
import type { Log } from '../../sync/ports/log.ts';
import { liveGatherMs } from '../limits.ts';
import { readOperations } from '../queries/operations.ts';
import { type Batch, startPump } from './socket-pump.ts';

/**
 * Sends the operations after row `after` (by default from now on) to `socket`, many in each message. As with events the journal is the only
 * queue: no operation is lost or sent twice.
 */
export function streamOperations(socket: WebSocket, engine: Engine, after: number | undefined, log: Log): void {
  let sent: number | undefined;
  let live = false;

  const next = (): Batch<LiveOperationsMessage> => {
    // A row above the last one is from a journal that was lost since.
    sent ??= Math.min(after ?? Number.MAX_SAFE_INTEGER, readOperations(engine, { limit: 1 }).operations[0]?.row ?? 0);
    const { operations } = readOperations(engine, { after: sent, limit: liveOperationsMax });
    const last = operations.at(-1);
    if (last !== undefined) {
      sent = last.row;
      const againMs = operations.length < liveOperationsMax ? liveGatherMs : 0;
      return { messages: [{ type: 'operations', operations }], againMs };
    }
    if (live) return { messages: [], againMs: 0 };
    live = true;
    return { messages: [{ type: 'live', last: sent }], againMs: 0 };
  };

  const wake = startPump(socket, next, 'operations', log);
  socket.once(
    'close',
    engine.context.facts.onJournaled(() => wake(liveGatherMs)),
  );
}

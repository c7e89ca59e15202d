import type { WebSocket } from 'ws';
import type { Log } from '../../sync/ports/log.ts';

/** The messages to send next; none if there are no more for now. */
export interface Batch<Message> {
  readonly messages: readonly Message[];
  /** The delay before the next batch is read, once these are sent. */
  readonly againMs: number;
}

/**
 * Sends to `socket` the batches that `next` reads. A batch is read when the last one was sent, so a slow reader holds one in memory.
 * Returns a function that reads again after a delay. A failed read ends the stream, not the agent; `what` names the stream for people.
 */
export function startPump<Message>(
  socket: WebSocket,
  next: () => Batch<Message>,
  what: string,
  log: Log,
): (delayMs: number) => void {
  let sending = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const pump = () => {
    if (sending || socket.readyState !== socket.OPEN) return;
    const { messages, againMs } = next();
    const last = messages.at(-1);
    if (last === undefined) return;
    sending = true;
    for (const message of messages.slice(0, -1)) socket.send(JSON.stringify(message));
    socket.send(JSON.stringify(last), (error) => {
      sending = false;
      if (error === undefined || error === null) wake(againMs);
    });
  };

  const wake = (delayMs: number) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      // No caller catches this: an error must not end the agent.
      try {
        pump();
      } catch (error) {
        log.error({ error }, `a stream of live ${what} failed`);
        socket.close(1011, `the ${what} cannot be read`);
      }
    }, delayMs);
  };

  socket.once('close', () => clearTimeout(timer));
  wake(0);
  return wake;
}

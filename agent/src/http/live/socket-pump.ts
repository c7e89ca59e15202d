import type { WebSocket } from 'ws';
import type { Log } from '../../sync/ports/log.ts';

/** What is to be sent next; nothing when there is no more for now. */
export interface Batch<Message> {
  readonly messages: readonly Message[];
  /** When it is looked for more, once these are sent. */
  readonly againMs: number;
}

/**
 * Sends to `socket` what `next` reads, batch by batch: the next one is read when the last one has left, so a slow reader holds one
 * in memory. Returns how to say that there may be more, to be looked for after so long. What cannot be read ends the stream,
 * not the agent; `what` names it for people.
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
      // Nobody waits for this call: what it throws must not end the agent.
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

import type { ApiEvent, LiveMessage } from '@lockstep/shared/api';

/** The effect of one message on a reader that has seen all events up to number `last`. */
export function advance(
  last: number | undefined,
  message: LiveMessage,
): { readonly last: number | undefined; readonly event?: ApiEvent } {
  switch (message.type) {
    case 'event':
      // An event is sent again if a connection broke after it was sent.
      if (last !== undefined && message.event.number <= last) return { last };
      return { last: message.event.number, event: message.event };
    case 'gap':
      return { last: message.oldest - 1 };
    case 'live':
      return { last: message.last };
  }
}

/**
 * The stream of the agent's live events. Each connection continues after the last event that was read, so no event is missed or delivered
 * twice, however often the connection breaks. The owner decides when to reconnect.
 */
export class EventStream {
  readonly #happened: () => void;
  readonly #broke: () => void;
  #last: number | undefined;
  #socket: WebSocket | undefined;

  /** `happened` is called after each event, `broke` when a connection ends without `close`. */
  constructor(happened: () => void, broke: () => void) {
    this.#happened = happened;
    this.#broke = broke;
  }

  open(): void {
    if (this.#socket !== undefined) return;
    const url = new URL('/api/v1/events/live', location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (this.#last !== undefined) url.searchParams.set('after', String(this.#last));
    const socket = new WebSocket(url);
    socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
      if (this.#socket !== socket) return;
      const { last, event } = advance(this.#last, JSON.parse(data) as LiveMessage);
      this.#last = last;
      if (event !== undefined) this.#happened();
    });
    socket.addEventListener('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#broke();
    });
    this.#socket = socket;
  }

  close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) closeSocket(socket);
  }
}

/** Closes a WebSocket once it is open: of one that is closed before that, the browser warns in the console. */
export function closeSocket(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CONNECTING) socket.addEventListener('open', () => socket.close());
  else socket.close();
}

import { apiPrefix } from '@lockstep/shared/api';
import { WebSocket } from 'ws';
import { socketAddress } from '../os/socket-address.ts';

/** One connection to a live stream of an agent. */
export interface LiveStream {
  /** The path of the agent's own socket. */
  readonly socketPath: string;
  /** Below the API's prefix. */
  readonly path: string;
  readonly received: (message: unknown) => void;
  readonly signal: AbortSignal;
}

/** Reads the stream until the agent or `signal` ends it, or until it breaks. Rejects if the connection fails, or `received` throws. */
export async function readLive({ socketPath, path, received, signal }: LiveStream): Promise<void> {
  if (signal.aborted) return;
  const address = await socketAddress(socketPath);
  const socket = new WebSocket(`ws+unix:${address.path}:${apiPrefix}${path}`);
  const close = (): void => socket.terminate();
  signal.addEventListener('abort', close);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('message', (data) => {
        try {
          received(JSON.parse(String(data)));
        } catch (error) {
          reject(error);
          close();
        }
      });
      socket.once('close', () => resolve());
      // Also emitted when a connection that is not open yet is terminated.
      socket.on('error', (error) => (signal.aborted ? resolve() : reject(error)));
      if (signal.aborted) close();
    });
  } finally {
    signal.removeEventListener('abort', close);
    await address.release();
  }
}

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tracks the connections without a request yet. Browsers open such ones in advance, and Node counts them neither as idle nor as active.
 * Without this they would delay the end of the server. Returns a function that closes them.
 */
export function followFreshConnections(server: Server): () => void {
  const fresh = new Set<Socket>();
  const used = ({ socket }: IncomingMessage) => fresh.delete(socket);
  server.on('connection', (socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  server.on('request', used);
  server.on('upgrade', used);
  return () => {
    for (const socket of fresh) socket.destroy();
  };
}

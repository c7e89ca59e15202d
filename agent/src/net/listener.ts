import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { frameBytesMax, type HostPort, LockstepError } from '@lockstep/shared';
import { WebSocketServer } from 'ws';
import type { Log } from '../sync/ports/log.ts';
import { formatAddress } from './address.ts';
import { Admission, remoteOf } from './admission.ts';
import type { OpenedSession } from './dial.ts';
import { type Credentials, shakeHands } from './handshake.ts';
import { closeTimeoutMs, unauthenticatedMax } from './limits.ts';
import { controlPath, secureContextOptions, webSocketPath } from './tls-options.ts';

interface ListenerOptions {
  readonly listen: HostPort;
  readonly credentials: Credentials;
  readonly handshakeTimeoutMs: number;
  readonly log: Log;
  /** Called in the same turn of the event loop in which a session opened. */
  opened(session: OpenedSession & { readonly remote: string }): void;
  /** The same of a connection for one request of a member that controls this one. */
  controlled(session: OpenedSession): void;
  /** Called when this side or the other one ended a handshake. */
  refused(remote: string, error: LockstepError): void;
}

/** The open port on which other members reach this one. */
export interface Listener {
  readonly address: HostPort;
  /** Accepts no more connections and drops those that are not authenticated. */
  close(): Promise<void>;
}

/** Listens for the connections of others and shakes hands with each. Rejects with `port-in-use` or `config-invalid`. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { credentials, handshakeTimeoutMs, log } = options;
  const admission = new Admission({
    countMax: unauthenticatedMax,
    timeoutMs: handshakeTimeoutMs,
    dropped: (remote, why) => log.debug({ remote }, `dropped a connection: ${why}`),
  });
  const server = createServer({
    ...secureContextOptions(credentials.identity),
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: handshakeTimeoutMs,
    maxHeaderSize: 8_192,
  });
  const webSockets = new WebSocketServer(webSocketOptions());
  server.on('connection', (socket: Socket) => admission.enter(socket));
  server.on('tlsClientError', (error, socket) => {
    log.debug(
      { remote: remoteOf(socket as TLSSocket), error: error.message },
      'a connection failed in the TLS handshake',
    );
    socket.destroy();
  });
  server.on('request', (_request, response) => {
    response.writeHead(426, { connection: 'close', upgrade: 'websocket' });
    response.end('A Lockstep member listens here: it speaks WebSockets with other members.\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const tls = socket as TLSSocket;
    const remote = remoteOf(tls);
    tls.on('error', (error) => log.debug({ remote, error: error.message }, 'a connection failed'));
    const isControl = request.url === controlPath;
    if (!isControl && request.url !== webSocketPath) {
      tls.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    webSockets.handleUpgrade(request, tls, head, (webSocket) => {
      shakeHands({ role: 'listener', socket: webSocket, tls, remote }, credentials, {
        opened: (peer) => {
          admission.leave(remote);
          const session = { socket: webSocket, tls, peer };
          if (isControl) options.controlled(session);
          else options.opened({ ...session, remote });
        },
        refused: (error) => options.refused(remote, error),
      });
    });
  });
  const address = await listen(server, options.listen);
  return {
    address,
    close: async () => {
      admission.clear();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function webSocketOptions() {
  return {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // As on the dialling side: no small fragments, and no answers to pings.
    maxFragments: 2,
    autoPong: false,
    closeTimeout: closeTimeoutMs,
  };
}

async function listen(server: Server, { host, port }: HostPort): Promise<HostPort> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, { host, port })));
    server.listen({ host, port }, () => resolve());
  });
  server.removeAllListeners('error');
  const bound = server.address() as AddressInfo;
  return { host, port: bound.port };
}

function explain(error: NodeJS.ErrnoException, wanted: HostPort): LockstepError {
  const address = formatAddress(wanted);
  switch (error.code) {
    case 'EADDRINUSE':
      return new LockstepError(
        'port-in-use',
        `Port ${wanted.port} is in use on ${wanted.host}: stop the program that listens on ${address}, or give this member ` +
          'another port (listen in .lockstep/config.toml, or --listen).',
        { cause: error },
      );
    case 'EACCES':
      return new LockstepError(
        'config-invalid',
        `This user may not listen on ${address}: choose port 1024 or a higher one (listen in .lockstep/config.toml, or --listen).`,
        { cause: error },
      );
    default:
      return new LockstepError(
        'config-invalid',
        `This machine cannot listen on ${address} (${error.code}): choose an address that it has (listen in ` +
          '.lockstep/config.toml, or --listen).',
        { cause: error },
      );
  }
}

import { isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { frameBytesMax, LockstepError, type MemberId } from '@lockstep/shared';
import { WebSocket } from 'ws';
import { parseAddress } from './address.ts';
import { type Announced, type Credentials, shakeHands } from './handshake.ts';
import { closeTimeoutMs as defaultCloseTimeoutMs } from './limits.ts';
import { controlPath, secureContextOptions, webSocketPath } from './tls-options.ts';

/** A connection over which both sides have proved themselves. */
export interface OpenedSession {
  readonly socket: WebSocket;
  readonly tls: TLSSocket;
  readonly peer: MemberId;
}

interface DialOptions {
  readonly address: string;
  /** By default that of a session. */
  readonly path?: string;
  readonly credentials: Credentials;
  readonly handshakeTimeoutMs: number;
  readonly closeTimeoutMs?: number | undefined;
  /** Called with the other side's announcement; false: that is enough, and no session is to open. */
  announced?(peer: MemberId, theirs: Announced): boolean;
  /** Called in the same turn of the event loop in which the session opened. */
  opened(session: OpenedSession): void;
  failed(error: LockstepError): void;
}

/**
 * Opens a connection to `address` and shakes hands. Calls one of `opened` and `failed`, once, or neither if `announced` returns false.
 * Returns a function that gives up. Throws `config-invalid` for a malformed address.
 */
export function openConnection(options: DialOptions): () => void {
  const { address, path = webSocketPath, credentials, handshakeTimeoutMs, opened, failed } = options;
  const { host, port } = parseAddress(address);
  const socket = new WebSocket(`wss://${isIPv6(host) ? `[${host}]` : host}:${port}${path}`, clientOptions(options));
  let tls: TLSSocket | undefined;
  let isSettled = false;
  const settle = (): boolean => {
    if (isSettled) return false;
    isSettled = true;
    clearTimeout(timer);
    return true;
  };
  const fail = (error: LockstepError): void => {
    if (settle()) failed(error);
  };
  const timer = setTimeout(() => {
    const seconds = handshakeTimeoutMs / 1_000;
    const what = tls === undefined ? 'did not answer' : 'did not finish the handshake';
    fail(
      unreachable(
        address,
        `it ${what} within ${seconds} s: is the machine up, and does a firewall let the port through?`,
      ),
    );
    socket.terminate();
  }, handshakeTimeoutMs);
  socket.on('error', (error) => fail(explain(error, address)));
  socket.on('unexpected-response', (request, response) => {
    request.destroy();
    if (path === controlPath && response.statusCode === 404) fail(olderMember(address));
    else fail(notLockstep(address, `it answered with HTTP status ${response.statusCode}`));
  });
  socket.on('upgrade', (response) => {
    tls = response.socket as TLSSocket;
  });
  socket.on('open', () => {
    const secured = tls as TLSSocket;
    shakeHands({ role: 'dialler', socket, tls: secured, remote: address }, credentials, {
      announced: (peer, theirs) => options.announced?.(peer, theirs) !== false || !settle(),
      opened: (peer) => {
        if (settle()) opened({ socket, tls: secured, peer });
      },
      refused: fail,
    });
  });
  return () => {
    fail(unreachable(address, 'this agent is stopping'));
    socket.terminate();
  };
}

function clientOptions({ credentials, closeTimeoutMs = defaultCloseTimeoutMs }: DialOptions) {
  return {
    ...secureContextOptions(credentials.identity),
    rejectUnauthorized: false,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    // A message has one frame, a block two: a peer gains nothing by smaller fragments.
    maxFragments: 2,
    // Pings are not part of the protocol. Answers to them would let a peer that does not read fill our send queue.
    autoPong: false,
    closeTimeout: closeTimeoutMs,
    // TLS makes masking pointless, and both sides skip a mask of zeros: the buffer stays as it is.
    generateMask: () => {},
  };
}

/** The error for a failed connection. */
function explain(error: NodeJS.ErrnoException, address: string): LockstepError {
  // If a name has several addresses, the list has one failure for each, and they are nearly always the same.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const { code = '', message } = (first ?? error) as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOTFOUND':
      return unreachable(address, 'its host name is unknown: check the spelling and the name service', error);
    case 'EAI_AGAIN':
      return unreachable(address, 'the name service does not answer', error);
    case 'ECONNREFUSED':
      return unreachable(
        address,
        'no program listens there: is lockstep up running on it, and is the port right?',
        error,
      );
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENETDOWN':
      return unreachable(address, 'there is no route to it: is the network up?', error);
    case 'ETIMEDOUT':
      return unreachable(
        address,
        'it did not answer: is the machine up, and does a firewall let the port through?',
        error,
      );
    case 'ECONNRESET':
    case 'EPIPE':
      return notLockstep(address, 'it closed the connection at once', error);
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code.startsWith('HPE_')) {
    return notLockstep(address, 'it does not speak TLS 1.3 with WebSockets', error);
  }
  return notLockstep(address, `the connection failed (${code === '' ? message : code})`, error);
}

function unreachable(address: string, why: string, cause?: Error): LockstepError {
  return new LockstepError('unreachable', `No session with ${address}: ${why}`, { cause });
}

function notLockstep(address: string, why: string, cause?: Error): LockstepError {
  return new LockstepError(
    'handshake-failed',
    `No session with ${address}: ${why}. Does a Lockstep member listen there?`,
    { cause },
  );
}

function olderMember(address: string): LockstepError {
  return new LockstepError(
    'protocol-mismatch',
    `What listens at ${address} is an older Lockstep, which no other member can control, or none: upgrade it, or use its own page.`,
  );
}

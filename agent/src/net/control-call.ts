import { LockstepError, type MemberId } from '@lockstep/shared';
import {
  type ControlAnswer,
  type ControlRequest,
  controlAnswerSchema,
  controlRequestSchema,
} from '@lockstep/shared/api';
import type { RawData, WebSocket } from 'ws';
import type { z } from 'zod';
import { closeCodes } from './close-code.ts';
import { type OpenedSession, openConnection } from './dial.ts';
import type { Credentials } from './handshake.ts';
import { controlBytesMax, controlTimeoutMs } from './limits.ts';
import { controlPath } from './tls-options.ts';

export interface ControlCall {
  readonly address: string;
  /** The member that must answer there. */
  readonly member: MemberId;
  readonly request: ControlRequest;
  readonly credentials: Credentials;
  readonly handshakeTimeoutMs: number;
}

/**
 * Asks another member to do something (docs/PROTOCOL.md, section 10). Rejects with a LockstepError if it could not be asked, and with
 * `unreachable` also if it did not answer: whether it did what was asked is not known then.
 */
export function callMember(call: ControlCall): Promise<ControlAnswer> {
  const { address, member, request, credentials, handshakeTimeoutMs } = call;
  return new Promise((resolve, reject) => {
    openConnection({
      ...{ address, path: controlPath, credentials, handshakeTimeoutMs },
      opened: ({ socket, peer }) => {
        if (peer !== member) {
          socket.close(closeCodes.normal);
          reject(new LockstepError('unreachable', `Another member answers at ${address}.`));
          return;
        }
        onlyMessage(socket, controlAnswerSchema, controlTimeoutMs, (answer) => {
          if (answer === undefined)
            reject(
              new LockstepError('unreachable', `The member at ${address} gave no answer that this one understands.`),
            );
          else {
            resolve(answer);
            socket.close(closeCodes.normal);
          }
        });
        socket.send(JSON.stringify(request));
      },
      failed: reject,
    });
  });
}

/** Answers the one request that a connection is for. */
export function answerCall(
  { socket, peer }: OpenedSession,
  answer: (peer: MemberId, request: ControlRequest) => Promise<ControlAnswer>,
): void {
  onlyMessage(socket, controlRequestSchema, controlTimeoutMs, (request) => {
    if (request === undefined) {
      socket.close(closeCodes.frameInvalid, 'this is no request that a member of this version knows');
      return;
    }
    // The other side closes. One that does not is cut off.
    const timer = setTimeout(() => socket.terminate(), controlTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
    answer(peer, request).then(
      (said) => socket.send(JSON.stringify(said)),
      () => socket.close(closeCodes.sessionFault, 'the request failed: see the log of this member'),
    );
  });
}

/** Calls `taken` once: with the first message, or with undefined if that is not what is expected, or does not come. */
function onlyMessage<T>(
  socket: WebSocket,
  schema: z.ZodType<T>,
  timeoutMs: number,
  taken: (message: T | undefined) => void,
): void {
  const finish = (message: T | undefined): void => {
    clearTimeout(timer);
    socket.off('message', onMessage);
    socket.off('close', onClose);
    taken(message);
  };
  const onMessage = (data: RawData): void => finish(parsed(data, schema));
  const onClose = (): void => finish(undefined);
  const timer = setTimeout(() => {
    socket.terminate();
    finish(undefined);
  }, timeoutMs);
  socket.on('message', onMessage);
  socket.on('close', onClose);
}

function parsed<T>(data: RawData, schema: z.ZodType<T>): T | undefined {
  const bytes = data as Buffer;
  if (bytes.length > controlBytesMax) return undefined;
  try {
    return schema.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

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
 * `control-unanswered` if it was asked and gave no answer: it may have done it, so a person must look before asking again.
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
        onlyMessage(socket, controlAnswerSchema, (answer, closeCode) => {
          if (answer === undefined) reject(unanswered(closeCode));
          else resolve(answer);
          socket.close(closeCodes.normal);
        });
        socket.send(JSON.stringify(request));
      },
      failed: reject,
    });
  });
}

function unanswered(closeCode: number | undefined): LockstepError {
  const why =
    closeCode === closeCodes.frameInvalid
      ? 'It does not know this request: bring both members to the same version of Lockstep.'
      : closeCode === closeCodes.sessionFault
        ? 'It failed to do it, and its log says why.'
        : 'Its answer did not come, so whether it was done is not known: look at that member before you try again.';
  return new LockstepError('control-unanswered', why);
}

/** Answers the one request that a connection is for. */
export function answerCall(
  { socket, peer }: OpenedSession,
  answer: (peer: MemberId, request: ControlRequest) => Promise<ControlAnswer>,
): void {
  onlyMessage(socket, controlRequestSchema, (request) => {
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

/**
 * Calls `taken` once: with the first message, or with undefined if that is not what is expected, or does not come in time; with the code
 * if the other side closed instead.
 */
function onlyMessage<T>(
  socket: WebSocket,
  schema: z.ZodType<T>,
  taken: (message: T | undefined, closeCode?: number) => void,
): void {
  const finish = (message: T | undefined, closeCode?: number): void => {
    clearTimeout(timer);
    socket.off('message', onMessage);
    socket.off('close', onClose);
    taken(message, closeCode);
  };
  const onMessage = (data: RawData, isBinary: boolean): void => finish(isBinary ? undefined : parsed(data, schema));
  const onClose = (code: number): void => finish(undefined, code);
  const timer = setTimeout(() => {
    socket.terminate();
    finish(undefined);
  }, controlTimeoutMs);
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

import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { type MemberId, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN } from '@lockstep/shared';
import { parseAddress } from './address.ts';
import { closeCodes } from './close-code.ts';
import { openConnection } from './dial.ts';
import type { Announced } from './handshake.ts';
import { encodeBase32 } from './keys/base32.ts';
import type { Identity } from './keys/identity.ts';
import { secureContextOptions } from './tls-options.ts';

/** The announcement of the member at an address. */
export interface Probed extends Announced {
  readonly memberId: MemberId;
  /** Why it ended the session at once; undefined if it took it, or if none was opened. */
  readonly refusal?: string;
}

export interface ProbeOptions {
  readonly address: string;
  readonly identity: Identity;
  readonly clusterKey: Uint8Array;
  readonly timeoutMs: number;
  /**
   * True: both sides prove that they have the key. That opens a session, closed at once, which would replace one of a running agent. False:
   * only announcements are exchanged.
   */
  readonly prove: boolean;
}

/** The longest wait for the first message of an opened session. */
const answerMs = 1_000;

/** Asks which member listens at `address`. Rejects with a LockstepError that says why no session with it is possible. */
export function probeMember({ address, identity, clusterKey, timeoutMs, prove }: ProbeOptions): Promise<Probed> {
  const protocol = { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };
  const credentials = { identity, clusterKey, protocol, instance: encodeBase32(randomBytes(10)) };
  let found: Probed | undefined;
  return new Promise((resolve, reject) => {
    openConnection({
      address,
      credentials,
      handshakeTimeoutMs: timeoutMs,
      announced: (memberId, { software, protocol: spoken }) => {
        found = { memberId, software, protocol: spoken };
        if (!prove) resolve(found);
        return prove;
      },
      opened: ({ socket }) => {
        const finish = (refusal?: string): void => {
          clearTimeout(timer);
          socket.close(closeCodes.normal);
          if (found !== undefined) resolve(refusal === undefined ? found : { ...found, refusal });
        };
        // A member that takes the session says hello at once.
        const timer = setTimeout(finish, answerMs);
        socket.once('message', () => finish());
        socket.once('close', (code, reason) =>
          finish(code === closeCodes.sessionFault ? reason.toString() : undefined),
        );
      },
      failed: reject,
    });
  });
}

/**
 * The clock of the machine at `address`, in milliseconds since the epoch, to the second: every member answers plain HTTP with a `Date`
 * header. Undefined if it does not answer.
 */
export function probeClock(address: string, identity: Identity, timeoutMs: number): Promise<number | undefined> {
  const { host, port } = parseAddress(address);
  return new Promise((resolve) => {
    const options = {
      host,
      port,
      ...secureContextOptions(identity),
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    };
    const asked = request(options, (answer) => {
      answer.resume();
      const at = Date.parse(answer.headers.date ?? '');
      resolve(Number.isNaN(at) ? undefined : at);
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}

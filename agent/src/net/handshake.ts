import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { LockstepError, type MemberId, SOFTWARE_VERSION } from '@lockstep/shared';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { closeCodes, closeReason, errorCodeOf, printable } from './close-code.ts';
import { type Identity, memberIdOf } from './keys/identity.ts';
import { handshakeBytesMax, handshakeFrameBytesMax } from './limits.ts';

/** The protocol versions that a member speaks, both ends included. */
export interface ProtocolRange {
  readonly min: number;
  readonly max: number;
}

/** The data that one member uses in every handshake. */
export interface Credentials {
  readonly identity: Identity;
  readonly clusterKey: Uint8Array;
  readonly protocol: ProtocolRange;
  /** Drawn at the start: distinguishes a session with ourselves from one with a copy of our identity. */
  readonly instance: string;
}

type Role = 'dialler' | 'listener';

interface Connection {
  readonly role: Role;
  readonly socket: WebSocket;
  readonly tls: TLSSocket;
  readonly remote: string;
}

/** The announcement of a member before anything is proved. */
export interface Announced {
  readonly software: string;
  readonly protocol: ProtocolRange;
}

interface Outcome {
  /** Called with the other side's announcement, if there is a common version. False: that is enough, and no session is to open. */
  announced?(peer: MemberId, theirs: Announced): boolean;
  /** Called in the same turn of the event loop in which the last frame of the handshake arrived, so that no later frame is lost. */
  opened(peer: MemberId): void;
  /** Called when the connection is closing, and both sides know why. */
  refused(error: LockstepError): void;
}

const version = z.int().min(1).max(65_535);
const announcementSchema = z.object({
  protocol: z.object({ min: version, max: version }),
  software: z.string().max(64),
  instance: z.string().min(1).max(64),
});
const proofSchema = z.object({ proof: z.base64().max(64) });

type Announcement = z.infer<typeof announcementSchema>;

class Refusal extends Error {
  readonly closeCode: number;
  constructor(closeCode: number, reason: string) {
    super(reason);
    this.closeCode = closeCode;
  }
}

/**
 * Proves to the other side of `socket` that this member has the cluster key, and verifies the other side's proof (docs/PROTOCOL.md, section
 * 4). The listener opens its side when the dialler has proved it, so a dialler whose session opened has been accepted.
 */
export function shakeHands(connection: Connection, credentials: Credentials, outcome: Outcome): void {
  const { role, socket, tls, remote } = connection;
  const peer = peerOf(tls);
  let theirs: Announcement | undefined;
  let isFinished = false;
  let receivedBytes = 0;

  const finish = (): boolean => {
    if (isFinished) return false;
    isFinished = true;
    tls.off('data', onData);
    socket.off('message', onMessage);
    socket.off('close', onClose);
    return true;
  };
  const refuse = (closeCode: number, reason: string): void => {
    if (!finish()) return;
    socket.close(closeCode, closeReason(reason));
    outcome.refused(refusalError(remote, closeCode, reason));
  };
  const guarded = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(error.closeCode, error.message);
    }
  };
  const onData = (chunk: Buffer): void => {
    receivedBytes += chunk.length;
    if (receivedBytes <= handshakeBytesMax || !finish()) return;
    socket.terminate();
    outcome.refused(refusalError(remote, closeCodes.handshakeFailed, 'it sent too much before the handshake ended'));
  };
  const onClose = (closeCode: number, reason: Buffer): void => {
    if (!finish()) return;
    const said = printable(reason.toString('utf8'));
    outcome.refused(
      refusalError(remote, closeCode, said === '' ? 'it closed the connection during the handshake' : said),
    );
  };
  const onMessage = (data: RawData, isBinary: boolean): void => {
    guarded(() => {
      const frame = readFrame(data, isBinary);
      if (peer === undefined) throw new Refusal(closeCodes.handshakeFailed, 'the dialler showed no certificate');
      if (theirs === undefined) {
        theirs = parseFrame(announcementSchema, frame);
        assertDifferentMember(peer, theirs, credentials);
        assertCommonVersion(role, credentials.protocol, theirs.protocol);
        if (outcome.announced?.(peer, theirs) === false) {
          if (finish()) socket.close(closeCodes.normal);
        } else if (role === 'dialler') sendProof(peer);
        return;
      }
      const { proof } = parseFrame(proofSchema, frame);
      const expected = proofOf(opposite(role), peer, credentials.identity.memberId, tls, credentials.clusterKey);
      if (!equalBytes(Buffer.from(proof, 'base64'), expected)) {
        throw new Refusal(
          closeCodes.clusterMismatch,
          'the cluster keys differ: compare .lockstep/cluster.key on both members',
        );
      }
      if (role === 'listener') sendProof(peer);
      if (finish()) outcome.opened(peer);
    });
  };
  const sendProof = (to: MemberId): void => {
    const proof = proofOf(role, credentials.identity.memberId, to, tls, credentials.clusterKey);
    socket.send(JSON.stringify({ proof: proof.toString('base64') }));
  };

  tls.prependListener('data', onData);
  socket.on('message', onMessage);
  socket.on('close', onClose);
  // An error of the connection is followed by its close, and so is a frame that violates the WebSocket protocol.
  socket.on('error', () => {});
  const { protocol, instance } = credentials;
  socket.send(JSON.stringify({ protocol, software: SOFTWARE_VERSION, instance } satisfies Announcement));
}

/** The member whose key the other side proved in the TLS handshake, if it showed a certificate. */
function peerOf(tls: TLSSocket): MemberId | undefined {
  const certificate = tls.getPeerX509Certificate();
  return certificate === undefined ? undefined : memberIdOf(certificate.publicKey);
}

function opposite(role: Role): Role {
  return role === 'dialler' ? 'listener' : 'dialler';
}

/**
 * The proof that only a holder of the key can compute, in this role, as this member, to that member, on this TLS connection. The ids are
 * part of it because the exported key material of TLS 1.3 does not depend on the dialler's certificate.
 */
function proofOf(role: Role, own: MemberId, peer: MemberId, tls: TLSSocket, clusterKey: Uint8Array): Buffer {
  const channel = tls.exportKeyingMaterial(32, 'EXPORTER-lockstep-cluster', Buffer.from('lockstep handshake 1'));
  return createHmac('sha256', clusterKey).update(channel).update(`${role} ${own} ${peer}`).digest();
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function readFrame(data: RawData, isBinary: boolean): string {
  if (isBinary || !Buffer.isBuffer(data)) {
    throw new Refusal(closeCodes.handshakeFailed, 'it sent a binary frame before the handshake ended');
  }
  if (data.length > handshakeFrameBytesMax) {
    throw new Refusal(closeCodes.handshakeFailed, `a handshake frame of ${data.length} bytes is too large`);
  }
  return data.toString('utf8');
}

function parseFrame<T>(schema: z.ZodType<T>, frame: string): T {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    throw new Refusal(closeCodes.handshakeFailed, 'a handshake frame is not JSON');
  }
  const result = schema.safeParse(value);
  if (!result.success)
    throw new Refusal(closeCodes.handshakeFailed, 'a handshake frame lacks a field or has a wrong one');
  return result.data;
}

function assertDifferentMember(peer: MemberId, theirs: Announcement, own: Credentials): void {
  if (peer !== own.identity.memberId) return;
  if (theirs.instance === own.instance) throw new Refusal(closeCodes.selfDialled, 'this address is the member itself');
  throw new Refusal(
    closeCodes.copiedState,
    'both members have one identity: a .lockstep directory was copied; run lockstep init again for the copy',
  );
}

function assertCommonVersion(role: Role, own: ProtocolRange, theirs: ProtocolRange): void {
  if (own.min <= theirs.max && theirs.min <= own.max) return;
  const older = own.max < theirs.min ? role : opposite(role);
  const [dialler, listener] = role === 'dialler' ? [own, theirs] : [theirs, own];
  throw new Refusal(
    closeCodes.protocolMismatch,
    `the dialler speaks protocol ${rangeText(dialler)}, the listener ${rangeText(listener)}: upgrade Lockstep on the ${older}`,
  );
}

function rangeText({ min, max }: ProtocolRange): string {
  return min === max ? `${min}` : `${min} to ${max}`;
}

function refusalError(remote: string, closeCode: number, reason: string): LockstepError {
  return new LockstepError(errorCodeOf(closeCode), `No session with ${remote}: ${reason}.`);
}

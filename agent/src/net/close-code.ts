import type { ErrorCode } from '@lockstep/shared';

/** WebSocket close codes. Those from 4000 on are Lockstep's own. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  /** The connection ended without a close frame. It is never sent. */
  abnormal: 1006,
  tooLarge: 1009,
  protocolMismatch: 4001,
  clusterMismatch: 4002,
  selfDialled: 4003,
  copiedState: 4004,
  handshakeFailed: 4005,
  frameInvalid: 4006,
  sessionFault: 4007,
} as const;

const errorCodeByCloseCode: Readonly<Record<number, ErrorCode>> = {
  [closeCodes.tooLarge]: 'frame-too-large',
  [closeCodes.protocolMismatch]: 'protocol-mismatch',
  [closeCodes.clusterMismatch]: 'cluster-mismatch',
  [closeCodes.selfDialled]: 'self-dialled',
  [closeCodes.copiedState]: 'copied-state',
  [closeCodes.frameInvalid]: 'frame-invalid',
};

/** The error of a handshake that the other side closed with `closeCode`. */
export function errorCodeOf(closeCode: number): ErrorCode {
  return errorCodeByCloseCode[closeCode] ?? 'handshake-failed';
}

const reasonBytesMax = 123;

/** `reason`, truncated to fit into a close frame. */
export function closeReason(reason: string): string {
  const bytes = Buffer.from(reason.toWellFormed(), 'utf8');
  if (bytes.length <= reasonBytesMax) return bytes.toString('utf8');
  const cut = bytes.subarray(0, reasonBytesMax - 3);
  // A character cut in half decodes as U+FFFD.
  return `${cut.toString('utf8').replace(/\uFFFD+$/u, '')}…`;
}

/** Text from another member, made safe for a terminal or a log: one line without control characters, at most 200 characters. */
export function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

import { blockBytes, membersMax } from '@lockstep/shared';

/** Limits of the wire alone; those that other parts know too are in shared/limits.ts. */

/** One frame of the handshake: an announcement is about 120 bytes. */
export const handshakeFrameBytesMax = 1_024;

/**
 * Bytes taken from a connection before it is authenticated, so that a stranger cannot make us hold a large frame. The dialler may
 * find the first messages of the session in the same read as the last frame of the handshake; a read has at most 64 KiB.
 */
export const handshakeBytesMax = 128 * 1_024;

/** Connections whose handshake is under way. When one more comes, the oldest is dropped: honest ones need milliseconds. */
export const unauthenticatedMax = 2 * membersMax;

/**
 * Bytes given to the socket, above which operations and blocks wait in the link, where signals overtake them. The kernel's own
 * buffer bridges the time between two blocks: more made no difference in throughput.
 */
export const bulkBytesAheadMax = blockBytes;

/** A closing session waits this long for the other side's goodbye before it cuts the connection. */
export const closeTimeoutMs = 2_000;

/** Nesting of a frame's body; the deepest legal one is an operation's version, five levels down. */
export const bodyDepthMax = 8;

/** Longer than every code of a problem: a heartbeat names one. */
export const problemCodeCharactersMax = 64;

import { blockBytes, membersMax } from '@lockstep/shared';

/** The limits of the wire; limits that other parts use too are in shared/limits.ts. */

/** The largest frame of the handshake: an announcement has about 120 bytes. */
export const handshakeFrameBytesMax = 1_024;

/**
 * The most bytes read from a connection before it is authenticated, so that a stranger cannot make us hold a large frame. The dialler may
 * find the first messages of the session in the same read as the last frame of the handshake; a read has at most 64 KiB.
 */
export const handshakeBytesMax = 128 * 1_024;

/** The most connections with a handshake under way. When one more comes, the oldest is dropped: honest ones need milliseconds. */
export const unauthenticatedMax = 2 * membersMax;

/**
 * Bytes in the socket's queue, above which operations and blocks wait in the link, where signals overtake them. This limits memory; the
 * send window limits the bytes on their way. A higher limit made no difference in throughput.
 */
export const bulkBytesAheadMax = blockBytes;

/** A block message up to this size overtakes larger ones: a small file is not worth a wait of several blocks. */
export const smallBlockBytesMax = blockBytes / 4;

/** The time that a closing session waits for the other side's close frame before it cuts the connection. */
export const closeTimeoutMs = 2_000;

/** The deepest nesting of a frame's body; the deepest legal value is an operation's version, five levels down. */
export const bodyDepthMax = 8;

/** Longer than every problem code: a heartbeat names one. */
export const problemCodeCharactersMax = 64;

/** The largest request or answer of a member that controls another one: all settings have some 20 KB. */
export const controlBytesMax = 2 * 1_024 * 1_024;

/** The time within which such a request is answered. */
export const controlTimeoutMs = 5_000;

/** The time for the handshake before it: a person waits, and the member may have other addresses. */
export const controlHandshakeTimeoutMs = 3_000;

/** Requests of members that control this one, at once. */
export const controlsMax = 64;

/**
 * The wire protocol's version. Two members talk when each one's version is at least the other's minimum.
 *
 * v1 (0.1): hello, subscribe, operations, received, pull, pulled, want, block, missing, ack, heartbeat, leave.
 */
export const PROTOCOL_VERSION = 1;

/** The oldest version this software still speaks. */
export const PROTOCOL_VERSION_MIN = 1;

/**
 * The journal's schema version (`PRAGMA user_version`).
 *
 * v1 (0.1): origins, ops, blocks, heads, parents, totals (digest and counts), disk, acks, events, settings.
 * v2 (0.1): an index of the conflict copies among the heads.
 */
export const JOURNAL_VERSION = 2;

/** Lockstep's own version, as people name it. */
export const SOFTWARE_VERSION = '0.1.0';

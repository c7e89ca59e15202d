/**
 * The wire protocol's version. Two members talk when each one's version is at least the other's minimum.
 *
 * v1 (0.1): hello, subscribe, operations, received, pull, pulled, want, block, missing, ack, heartbeat, leave.
 *
 * Added to v1 since, each without a number of its own because whoever does not know it passes over it:
 * - lanes: signals may overtake operations and blocks on the way. The order within a lane is what it was.
 * - `paused` in leave: who pauses says so. To others it has stopped.
 * - `trouble` in heartbeats: the code of the sender's worst problem. Others know only how many it has.
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

/**
 * The wire protocol's version. Two members talk when each one's version is at least the other's minimum.
 *
 * v1 (0.1): hello, subscribe, operations, received, pull, pulled, want, block, missing, ack, heartbeat, leave.
 *
 * Added to v1 since, each without a number of its own because a member that does not know it ignores it:
 * - lanes: signals may overtake operations and blocks on the way. The order within a lane is unchanged.
 * - `paused` in leave: a member that pauses says so. Older members see it as stopped.
 * - `trouble` in heartbeats: the code of the sender's worst problem. Older members know only the number of problems.
 *
 * v2 (0.1): `keeps` in operations, and in their chain. A member of v1 would end the session that brings one.
 * v3 (0.1): report; `totalBytes`, `missingBytes` and `bytesPerSecond` in heartbeats. A member of v2 would end the session.
 * v4 (0.1): pieces of operations and blocks, and reports of arrived bytes. A member of v3 gets whole messages and no reports.
 * v5 (0.1): a report of arrived bytes says how long they may have waited. A member of v4 gets reports without it.
 * v6 (0.1): `mayBeAway` in the records of members, and in their chain. A member of v5 would compute another chain, so it gets no such record.
 * v7 (0.1): `marks` in operations, and in their chain. A member of v6 would end the session that brings one.
 * v8 (0.1): have, and recipes and ranges in want. A member of v7 would end the session.
 * v9 (0.1): pulse; `echo` in heartbeats instead of replies. A member of v8 would end the session.
 * v10 (0.1): compressed blocks. A member of v9 would end the session.
 * v11 (0.1): `onDemand` in hello, in the records of members and in their chain; `keep` in want. A member of v10 would end the session.
 * v12 (0.1): `room` and `copies` in the records of members and in their chain; copies in heartbeats; holdings, flipped, retell. A member of v11
 *   would end the session.
 * v13 (0.1): `freeBytes` in heartbeats may be absent. A member of v12 would end the session.
 * v14 (0.1): withdraw; `worstProblem` in heartbeats was `trouble`, and `membership` in the records of members was `standing`. A member of v13
 *   would end the session.
 */
export const PROTOCOL_VERSION = 14;

/** The oldest version this software still speaks. */
export const PROTOCOL_VERSION_MIN = 14;

/**
 * The journal's schema version (`PRAGMA user_version`).
 *
 * v1 (0.1): origins, ops, blocks, heads, parents, totals (digest and counts), disk, acks, events, settings.
 * v2 (0.1): an index of the conflict copies among the heads.
 * v3 (0.1): marks of rows of disk: a user's change that is not durable yet, and damage.
 * v4 (0.1): the birth time of each entry of `disk`.
 * v5 (0.1): the chain hash of each operation, marks in the digest, sealed origins.
 * v6 (0.1): a mark of rows of disk: files that may change without a trace.
 * v7 (0.1): a mark of rows of disk: damage that a power cut left.
 * v8 (0.1): `keeps` of operations.
 * v9 (0.1): totals of what is in place on the disk, and of the bytes that are missing there.
 * v10 (0.1): `marks` of operations, and those that another operation than the one here has, or an unknown one.
 * v11 (0.1): a mark of rows of disk: files whose content is on other members only.
 * v12 (0.1): the last uses of files on a member that fetches contents on demand.
 * v13 (0.1): no row of disk stays remote when its file was deleted.
 * v14 (0.1): `membership` in the records of members was `standing`.
 */
export const JOURNAL_VERSION = 14;

/** The version of the Lockstep software. */
export const SOFTWARE_VERSION = '0.1.0';

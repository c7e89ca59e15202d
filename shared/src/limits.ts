/** Every limit of the system: a name, a unit, a reason. */

/** One block of content. The unit of hashing, transfer and verification. */
export const blockBytes = 1_048_576;

/** Content up to this size travels inside the push of its operation: one message, no round trip. */
export const inlineBytesMax = 65_536;

/** A frame larger than this ends the session. Above the largest legal message: one block, or the block hashes of one 512 GiB file. */
export const frameBytesMax = 18 * 1_048_576;

/** Operations in one frame: keeps the time one frame holds the control thread to a few milliseconds. */
export const operationsPerFrameMax = 1_000;

/** Operations and inline bytes in one frame, unless a single operation is larger. */
export const operationsFrameBytesTarget = 1_048_576;

/** Frames of operations sent to one peer and not yet confirmed: bounds what a slow receiver must hold in memory. */
export const operationFramesInFlightMax = 8;

/** Blocks asked of one source and not yet arrived. 8 MiB in flight fill 10 Gbit/s at a round trip of 6 ms. */
export const blocksInFlightPerSourceMax = 8;

/** Files being fetched at one time: so many small ones, and beside them so many large ones. */
export const fetchesMax = 64;

/** A file above this many bytes is a large one among the fetched: many of them may take hours, and no small one waits for that. */
export const smallFetchBytesMax = 8 * blockBytes;

/** Inline content waiting to be applied; above it the bytes are dropped and fetched again when their turn comes. */
export const inlineWaitingBytesMax = 24 * 1_048_576;

/** Bytes waiting in one session's send queue, above which the senders of bulk data pause. Heartbeats never pause. */
export const sendQueueBytesMax = 4 * 1_048_576;

/** Paths observed or applied in one batch under the folder lock: bounds how long the other side waits. */
export const batchPathsMax = 512;

/** Bytes of small files read or written in one batch. */
export const batchBytesMax = 16 * 1_048_576;

/** A file larger than this is hashed outside the folder lock. */
export const hashUnderLockBytesMax = 1_048_576;

/** Changed paths of one directory, above which the directory is scanned instead of each path. */
export const dirtyPathsPerDirectoryMax = 256;

/** Changed paths waiting in memory; above it they become one scan of the whole folder. */
export const dirtyPathsMax = 50_000;

/** Watch events in one turn of the event loop, after which the kernel's queue (16,384 by default) may have overflowed. */
export const eventBurstMax = 8_192;

/** Bytes of one path: Linux's PATH_MAX less the room for the folder's own path. */
export const pathBytesMax = 3_072;

/** Bytes of one name: the limit of ext4, xfs and btrfs. */
export const nameBytesMax = 255;

/** The largest file: its block hashes must fit into one frame. */
export const fileBytesMax = 512 * 1024 ** 3;

/** Members of one cluster: the latency matrix and the vectors grow with its square. */
export const membersMax = 64;

/** Time between heartbeats. */
export const heartbeatIntervalMs = 1_000;

/** Silence after which a member is suspect, and after which it is down. */
export const suspectAfterMs = 3_000;
export const downAfterMs = 10_000;

/** JOIN is announced to every known address that is not connected at least this often. */
export const joinIntervalMs = 10_000;

/** Applied vectors are gathered for this long before they are sent. */
export const ackCoalesceMs = 4;

/** Nobody may take longer than this from the TCP connection to the end of the handshake. */
export const handshakeTimeoutMs = 10_000;

/** A member's clock that differs from ours by more than this is reported. */
export const clockSkewMsMax = 10_000;

/** The whole folder is compared with the journal this often, whatever the watcher says. */
export const rescanIntervalMs = 600_000;

/** Replaced and deleted versions kept in `.lockstep/history`. Content that a conflict still needs is kept beyond it. */
export const historyBytesMax = 1024 ** 3;

/** Applied vectors carry at most this many ranges above their contiguous part. */
export const appliedRangesMax = 32;

/** Free space below which nothing more is staged: the journal and the user need room too. */
export const freeBytesMin = 16 * 1_048_576;

/** Bytes of freshly written small files kept for sending: what every connected member asks for within moments. */
export const outboxBytesMax = 8 * 1_048_576;

/** How long a path that vanished is held before its delete is journaled: its new name may be about to be seen. */
export const vanishedHoldMs = 20;

/** Entries below a renamed directory, above which its entries are renamed one by one: bounds one transaction. */
export const directoryRenameEntriesMax = 100_000;

/** The largest span: a rename makes the directory, makes what is in it, and deletes each of them under its old name. */
export const spanMax = 2 * directoryRenameEntriesMax + 2;

/** How long the rest of a group may fail to come, from members that have it, before what came of it is shown without it. */
export const groupTimeoutMs = 60_000;

/** How long a source of operations may send none of what was pulled before another is asked. */
export const pullTimeoutMs = 60_000;

/** Problems remembered one by one; more are only counted. */
export const problemsMax = 1_000;

/** How long a source of content may stay silent before another is asked. */
export const blockTimeoutMs = 60_000;

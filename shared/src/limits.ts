/** Every limit of the system: a name, a unit, a reason. */

/** Bytes of a chain hash that are sent with a number: enough to detect branches made by accident. A whole hash has 32. */
export const markBytes = 8;

/** Numbers that one `fork` message compares: the last 1,024 of the origin one by one, and some earlier ones. */
export const forkMarksMax = 1_100;

/** One block of content. The unit of hashing, transfer and verification. */
export const blockBytes = 1_048_576;

/** Ranges of a block in one request: a block has at most so many chunks, of 4 KiB. */
export const blockRangesMax = 256;

/** Content up to this size is sent with its operation: one message, no round trip. */
export const inlineBytesMax = 65_536;

/** A frame larger than this ends the session. Above the largest legal message: one block, or the block hashes of one 512 GiB file. */
export const frameBytesMax = 18 * 1_048_576;

/** Operations in one frame: limits the time that one frame occupies the main thread to a few milliseconds. */
export const operationsPerFrameMax = 1_000;

/** Operations and inline bytes in one frame, unless a single operation is larger. */
export const operationsFrameBytesTarget = 1_048_576;

/** Frames of operations sent to one peer and not yet confirmed: bounds what a slow receiver must hold in memory. */
export const operationFramesInFlightMax = 8;

/**
 * Blocks requested from one source and not yet staged. 8 MiB in flight fill 10 Gbit/s at a round trip of 6 ms. Of small contents there are up to
 * eight times as many: a round trip for every eight files would be slower than the line.
 */
export const blocksInFlightPerSourceMax = 8;

/** Blocks of small contents that may be requested from a source in addition, while large contents have all its places. */
export const smallBlocksInFlightMin = 2;

/** Blocks of one large content that may be requested and not yet received, from all its sources: they fill 10 Gbit/s at 25 ms. */
export const blocksInFlightMax = 32;

/** Wants withdrawn in one message: many more than are open at a time. */
export const withdrawnWantsMax = 1_024;

/** Staged blocks that are announced in one message: at most 40 KB of ranges. */
export const announcedBlocksMax = 4_096;

/** Contents of one member whose announced blocks are remembered: as many as it fetches. The one heard of least lately is forgotten. */
export const announcedContentsMax = 64;

/**
 * Bytes of the filter by which a member on demand tells what it holds: that of 73 files, and that of 1.5 million. A member with more tells
 * nothing, and is asked.
 */
export const filterBytesMin = 128;
export const filterBytesMax = 2 * 1_048_576;

/** Changed bits in one message: beyond this part of the filter the whole is smaller. */
export const flippedShareMax = 1 / 32;

/** Files being fetched at once: this many small ones, and in addition as many large ones. */
export const fetchesMax = 64;

/** A file above this many bytes counts as large when it is fetched. Many large files may take hours, and no small one waits for them. */
export const smallFetchBytesMax = 8 * blockBytes;

/** Bytes of inline content waiting to be applied; above it they are dropped and fetched again when needed. */
export const inlineWaitingBytesMax = 24 * 1_048_576;

/** Bytes waiting in one session's send queue, above which the senders of bulk data pause. Heartbeats never pause. */
export const sendQueueBytesMax = 4 * 1_048_576;

/** Paths observed or applied in one batch under the folder lock: bounds how long the other side waits. */
export const batchPathsMax = 512;

/**
 * Operations, or rows of `disk`, that one transaction journals. A change with more, as of a renamed directory, takes several, and other tasks
 * run between them.
 */
export const transactionRowsMax = 1_000;

/** Bytes of small files read or written in one batch. */
export const batchBytesMax = 16 * 1_048_576;

/** A file larger than this is hashed outside the folder lock. */
export const hashUnderLockBytesMax = 1_048_576;

/** The longest `.lockstepignore` that is read: some 50,000 rules. It is read under the folder lock, like all files of this size. */
export const ignoreFileBytesMax = 1_048_576;

/** Changed paths that wait in memory. From there on a scan waits, and what the watcher reports is left to a scan of its directory. */
export const dirtyPathsMax = 50_000;

/** Watch events in one turn of the event loop, after which the kernel's queue (16,384 by default) may have overflowed. */
export const eventBurstMax = 8_192;

/** Bytes of one path: Linux's PATH_MAX, minus room for the folder's own path. */
export const pathBytesMax = 3_072;

/** Bytes of one name: the limit of ext4, xfs and btrfs. */
export const nameBytesMax = 255;

/** Bytes of a symbolic link's text: Linux's PATH_MAX without its terminating NUL. */
export const targetBytesMax = 4_095;

/**
 * The range of file times in operations, microseconds since the epoch: from 1685 to 2255. A double counts whole microseconds exactly until
 * shortly after that, and every file system in use can store a time near any in it.
 */
export const fileTimeUsMin = Date.UTC(1685, 0, 1) * 1_000;
export const fileTimeUsMax = Date.UTC(2255, 0, 1) * 1_000;

/** Origins in the version of one operation of our own: members that ever wrote the path, times the journals that they lost. */
export const originsMax = 16_384;

/** Origins that are accepted in one vector and in one frame: four times the limit for sending; a frame has room for three times as many. */
export const originsAcceptedMax = 4 * originsMax;

/** Exceptions of one version of our own: only an edit under unsettled siblings adds one, and a join removes them again. */
export const exceptionsMax = 4_096;

/** Exceptions that are accepted in one version: four times the limit for sending. */
export const exceptionsAcceptedMax = 4 * exceptionsMax;

/** Operations in `keeps` of one of our own: siblings of equal content, of which each origin hardly ever has more than one. */
export const keepsMax = 4_096;

/** Operations that are accepted in `keeps`: four times the limit for sending. */
export const keepsAcceptedMax = 4 * keepsMax;

/** Characters of a member's name, and of an address: more than any host name has. */
export const memberNameCharactersMax = 255;
export const addressCharactersMax = 300;

/** Addresses of one member, the best ones: a machine with containers has dozens, and the others can reach a few of them. */
export const addressesMax = 16;

/** Addresses of one member that are accepted: four times the limit for sending. */
export const addressesAcceptedMax = 4 * addressesMax;

/** The largest file: its block hashes must fit into one frame. */
export const fileBytesMax = 512 * 1024 ** 3;

/** Members of one cluster: the size of the latency matrix and of all vectors together grows with its square. */
export const membersMax = 64;

/** The most rules for copies that are set at one member, those that were removed included, and the longest pattern of one. */
export const copiesRulesMax = 64;
export const copiesPatternCharactersMax = 256;

/** Time within which other members hear what changed here; see also `pulseIntervalMs`. */
export const heartbeatIntervalMs = 1_000;

/** Silence after which a member is down. */
export const downAfterMs = 10_000;

/** JOIN is announced to every known address that is not connected at least this often. */
export const joinIntervalMs = 10_000;

/** The time to wait for more changes after a user's change, before one sync makes all of them durable. */
export const writeBackIdleMs = 50;

/**
 * The interval between the starts of two syncs of users' changes, unless a request waits for one: each makes the disk write all gathered
 * data.
 */
export const writeBackIntervalMs = 1_000;

/** While changes keep coming, the next sync waits until none came for this long, so that it does not slow them down; */
export const writeBackQuietMs = 300;

/** but it begins at the latest this long after the one before. */
export const writeBackBusyMsMax = 5_000;

/**
 * A job in the folder that makes no progress for this long is reported. A healthy disk answers within a second, a busy one within a few.
 */
export const folderStallMs = 20_000;

/** A sync that failed is tried again after this time. */
export const writeBackRetryMs = 5_000;

/** The last sync before the agent stops may take this long: a disk that hangs must not block the stop. */
export const lastSyncMs = 10_000;

/** File times advance in steps of some milliseconds: a change within this time of another may leave the same times. */
export const fileTimeStepMsMax = 50;

/**
 * The pages of a file that was changed within this time may be dirty. Linux writes them back within 35 s by default; a laptop that saves
 * power, or a slow disk, takes minutes.
 */
export const unconfirmedAgeMsMax = 300_000;

/** The delay after a sync before the files that it wrote are read again: current writes go first. */
export const confirmDelayMs = 200;

/** The longest time that the second reads wait for a busy folder. */
export const confirmBusyMsMax = 10_000;

/** The rate at which files are read a second time, mostly from memory: an eighth of the speed of hashing. */
export const confirmBytesPerSecond = 128 * 1_048_576;

/** Files that are polled in one second for changes without an event: 0.7 % of a processor. A folder of 40,000 takes a minute. */
export const polledFilesPerSecond = 700;

/** Files that are polled every few seconds: changed lately, mapped by a program, or with a second name. */
export const hotFilesMax = 1_000;

/** The time for which a changed file is polled that often. */
export const hotFileMs = 600_000;

/** Applied vectors are gathered for this long before they are sent. */
export const ackCoalesceMs = 4;

/** New operations are acknowledged as known after this time, unless one is applied earlier: no wait depends on it. */
export const knownCoalesceMs = 20;

/** The longest time from the TCP connection to the end of the handshake. */
export const handshakeTimeoutMs = 10_000;

/** A member's clock that differs from ours by more than this is reported. */
export const clockSkewMsMax = 10_000;

/** The interval at which the whole folder is compared with the journal, whatever the watcher reports. */
export const rescanIntervalMs = 600_000;

/** The part of the disk that replaced and deleted versions in `.lockstep/history` may occupy; what a conflict still needs is kept beyond it. */
export const historyDiskShareMax = 0.1;

/** The part of the disk that the contents of a member that fetches on demand may take, unless a person sets another room. */
export const cacheDiskShareMax = 0.5;

/** Copies on a member that was not heard for so long are made elsewhere, unless a person sets another time. */
export const copiesAwayMs = 3_600_000;

/** History leaves this much of the disk free, by its size: it is a courtesy, and files that arrive need the room. */
export const historyReserveShare = 0.05;
export const historyReserveBytesMax = 1024 ** 3;

/** Versions of one path that are searched and listed for a person. */
export const versionsMax = 1_000;

/** Deleted entries of a directory that one request puts back. */
export const restoredMax = 10_000;

/** Versions in history: bounds the memory of their list, some 12 MiB, and the time to read it. */
export const historyFilesMax = 50_000;

/** The time that a version stays in history: long enough to notice damage after a holiday. */
export const historyAgeMsMax = 30 * 86_400_000;

/** The interval at which all files are read and compared with their content ids, to find what a failing disk changed. */
export const scrubIntervalMs = 30 * 86_400_000;

/** The lowest rate of the scrub while it reads: a small folder is done in a minute. */
export const scrubBytesPerSecondMin = 1_048_576;

/** The highest rate of the scrub: a tenth of a disk's speed. A folder above 150 TB takes longer than 30 days. */
export const scrubBytesPerSecondMax = 64 * 1_048_576;

/** The interval at which history is listed whole, to notice what others removed; the agent knows its own changes without that. */
export const historyListIntervalMs = 3_600_000;

/** Applied vectors carry at most this many ranges above their contiguous part. */
export const appliedRangesMax = 32;

/** Free space below which nothing more is staged: the journal and the user need room too. */
export const freeBytesMin = 16 * 1_048_576;

/** Free inodes that nothing that arrives takes, on any but a tiny disk: history alone has 256 directories. */
export const freeFilesMin = 512;

/** Bytes of recently written small files kept for sending: every connected member requests them within moments. */
export const sentBytesCacheMax = 16 * 1_048_576;

/** The time that a delete is held before it is journaled: the path's new name may be about to appear. */
export const vanishedHoldMs = 20;

/**
 * The time in milliseconds for which deletes wait for an entry or a directory that cannot be read: it may be, or contain, the missing one.
 * Several attempts are made meanwhile. One that stays unreadable must not hold up deletes without end.
 */
export const unreadHoldMs = 10_000;

/** The most entries below a directory that is renamed whole; above it they are renamed one by one. Bounds the group. */
export const directoryRenameEntriesMax = 100_000;

/** The largest span: a rename makes the directory and each entry in it, and deletes each under its old name. */
export const spanMax = 2 * directoryRenameEntriesMax + 2;

/** The time to wait for the rest of a group, from members that have it, before its first part is shown without it. */
export const groupTimeoutMs = 60_000;

/** The time that a source may send no pulled operations before another one is asked. */
export const pullTimeoutMs = 60_000;

/** Problems of paths kept one by one; more are only counted. */
export const problemsMax = 1_000;

/** Paths with a problem that are counted beyond those: bounds the memory of their set, some 20 MB. */
export const problemsCountedMax = 100_000;

/** The time that a source of content may be silent before another one is asked. */
export const blockTimeoutMs = 60_000;

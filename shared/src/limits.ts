/** Every limit of the system: a name, a unit, a reason. */

/** Bytes of a chain hash that are sent with a number: enough to tell branches apart by accident. A whole one has 32. */
export const markBytes = 8;

/** Numbers that one `fork` message compares: the last 1,024 of the origin one by one, and some of those before. */
export const forkMarksMax = 1_100;

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

/** The longest `.lockstepignore` that is read: some 50,000 rules. It is read under the folder lock, as files of this size are. */
export const ignoreFileBytesMax = 1_048_576;

/**
 * Changed paths waiting in memory; above it they become one scan of the whole folder. One directory may hold all of them: a scan of it
 * marks path by path again what differs, so it would save nothing and compare all the others as well.
 */
export const dirtyPathsMax = 50_000;

/** Watch events in one turn of the event loop, after which the kernel's queue (16,384 by default) may have overflowed. */
export const eventBurstMax = 8_192;

/** Bytes of one path: Linux's PATH_MAX less the room for the folder's own path. */
export const pathBytesMax = 3_072;

/** Bytes of one name: the limit of ext4, xfs and btrfs. */
export const nameBytesMax = 255;

/** Bytes of a symbolic link's text: Linux's PATH_MAX less its terminating NUL. */
export const targetBytesMax = 4_095;

/**
 * The range of file times that operations carry, microseconds since the epoch: from 1685 to 2255. A double counts whole microseconds
 * exactly until shortly after that, and every file system in use has a nearest time of its own to anything in it.
 */
export const fileTimeUsMin = Date.UTC(1685, 0, 1) * 1_000;
export const fileTimeUsMax = Date.UTC(2255, 0, 1) * 1_000;

/** Origins in the version of one operation of our own: members that ever wrote the path, times the journals that they lost. */
export const originsMax = 16_384;

/** Origins that are accepted in one vector and in one frame: four times what is sent; a frame has room for three times as many. */
export const originsAcceptedMax = 4 * originsMax;

/** Exceptions of one version of our own: only an edit under standing siblings adds any, and joining them removes them again. */
export const exceptionsMax = 4_096;

/** Exceptions that are accepted in one version: four times what is sent. */
export const exceptionsAcceptedMax = 4 * exceptionsMax;

/** Operations that one of our own keeps: siblings of equal content, of which each origin has hardly ever more than one. */
export const keepsMax = 4_096;

/** Operations that one is accepted to keep: four times what is sent. */
export const keepsAcceptedMax = 4 * keepsMax;

/** Characters of a member's name, and of an address: more than any host name has. */
export const memberNameCharactersMax = 255;
export const addressCharactersMax = 300;

/** Addresses of one member, the best ones: a machine with containers has dozens, of which the others reach a few. */
export const addressesMax = 16;

/** Addresses that are accepted of one member: four times what is sent. */
export const addressesAcceptedMax = 4 * addressesMax;

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

/** After a user's change the next ones are waited for so long, before all of them are made durable with one sync. */
export const writeBackIdleMs = 50;

/** Syncs of what users changed begin so far apart, unless somebody waits for one: each makes the disk write what it gathers. */
export const writeBackIntervalMs = 1_000;

/** A job in the folder that has not got on for so long is reported: a healthy disk answers within a second, a busy one within some. */
export const folderStallMs = 20_000;

/** A sync that failed is tried again after this time. */
export const writeBackRetryMs = 5_000;

/** The last sync before the agent stops may take so long: a disk that hangs must not keep it from ending. */
export const lastSyncMs = 10_000;

/** File times advance in steps of some milliseconds: a change within this time of another may leave the same times. */
export const fileTimeStepMsMax = 50;

/**
 * Pages of a file that was changed within this time may be dirty. Linux writes them back within 35 s by default; a laptop that saves
 * power, or a slow disk, takes minutes.
 */
export const unconfirmedAgeMsMax = 300_000;

/** How long after a sync the files that it wrote are read again: what is being written meanwhile goes first. */
export const confirmDelayMs = 200;

/** How long the second reads wait at most for a folder that is busy. */
export const confirmBusyMsMax = 10_000;

/** How fast files are read a second time, which comes from memory mostly: an eighth of what hashing can do. */
export const confirmBytesPerSecond = 128 * 1_048_576;

/** Files that are polled in one second, for changes that raise no event: 0.7 % of a processor. A folder of 40,000 takes a minute. */
export const polledFilesPerSecond = 700;

/** Files that are polled every few seconds: changed lately, mapped by a program, or with a second name. */
export const hotFilesMax = 1_000;

/** How long a file that was changed is polled so often. */
export const hotFileMs = 600_000;

/** Applied vectors are gathered for this long before they are sent. */
export const ackCoalesceMs = 4;

/** Nobody may take longer than this from the TCP connection to the end of the handshake. */
export const handshakeTimeoutMs = 10_000;

/** A member's clock that differs from ours by more than this is reported. */
export const clockSkewMsMax = 10_000;

/** The whole folder is compared with the journal this often, whatever the watcher says. */
export const rescanIntervalMs = 600_000;

/** What replaced and deleted versions in `.lockstep/history` may occupy on the disk. Content that a conflict still needs is kept beyond it. */
export const historyBytesMax = 1024 ** 3;

/** Versions in history: bounds what the agent knows of them in memory, some 12 MiB, and how long listing them takes. */
export const historyFilesMax = 50_000;

/** How long a version stays in history: long enough to notice after a holiday what was spoilt before it. */
export const historyAgeMsMax = 30 * 86_400_000;

/** All files are read and compared with their content ids this often, for what a failing disk changed. */
export const scrubIntervalMs = 30 * 86_400_000;

/** How fast the scrub reads at least, while it reads: a small folder is done in a minute. */
export const scrubBytesPerSecondMin = 1_048_576;

/** And at most: a tenth of what a disk gives. A folder above 150 TB takes longer than 30 days. */
export const scrubBytesPerSecondMax = 64 * 1_048_576;

/** How often history is listed whole, for what others removed from it; the agent's own changes are known without that. */
export const historyListIntervalMs = 3_600_000;

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

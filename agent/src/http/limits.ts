/** The largest body of a request: the longest path and some words around it. */
export const bodyBytesMax = 65_536;

/** The longest time in which a request must arrive, except the body of a file. Answers may take longer. */
export const requestTimeoutMs = 30_000;

/** The longest time in which the rest of a body must arrive that was answered before it was read. Its sender sees the answer then. */
export const unreadRestMs = 5_000;

/** The longest time without a byte of an upload: some always come, even over a slow line. */
export const uploadIdleMs = 60_000;

/** The most files written at once: each holds a block of 1 MiB in memory, twice. */
export const uploadsMax = 16;

/** The most live streams served at once: each costs memory and a query of the journal for each event. */
export const liveStreamsMax = 64;

/** The most events in flight to one live stream: bounds the memory for a slow reader. */
export const livePageEvents = 200;

/** Operations are gathered for this long before they are sent live: a screen shows no more than some sixty frames a second. */
export const liveGatherMs = 15;

/** The largest message from a reader of live events: readers have nothing to send. */
export const liveInboundBytesMax = 1_024;

/** The interval between pings. A reader that has not answered one when the next is due is gone. */
export const livePingIntervalMs = 30_000;

/** The time that open requests may still take when the agent stops. */
export const closeGraceMs = 2_000;

/** The interval at which the event loop is measured once metrics are scraped. The usual 10 ms took 0.5 % of a processor, this 0.06 %. */
export const eventLoopLookIntervalMs = 100;

/** The interval at which open requests are compared with logins and tokens that may have expired. */
export const expiryCheckMs = 5_000;

/** The most searches at once: each walks through the whole tree. */
export const searchesMax = 4;

/** The most verifications at once: each reads every file. */
export const verifiesMax = 1;

/** The most waits at once: each counts again after every acknowledgement. */
export const waitsMax = 64;

/** The most files kept on the disk for programs at once: each costs a connection. One program may have 1,024 files open, by default. */
export const holdsMax = 2_048;

/** The most contents served at once: each holds a file open and reads ahead. */
export const contentsMax = 32;

/** The largest body of a request: the longest path and some words around it. */
export const bodyBytesMax = 65_536;

/** Nobody may take longer than this to send a request. Answers may take longer. */
export const requestTimeoutMs = 30_000;

/** Live event streams served at one time: each costs memory and a look into the journal for each event. */
export const liveStreamsMax = 64;

/** Events sent to one live stream before it must have taken them: bounds what waits in memory for a slow reader. */
export const livePageEvents = 200;

/** Operations are gathered for this long before they are sent live: a screen shows no more than some sixty pictures a second. */
export const liveGatherMs = 15;

/** The readers of live events have nothing to say. */
export const liveInboundBytesMax = 1_024;

/** A reader that has not answered a ping when the next one is due is gone. */
export const livePingIntervalMs = 30_000;

/** How long requests under way may still take when the agent stops. */
export const closeGraceMs = 2_000;

/** How often the event loop is looked at once metrics are scraped. The usual 10 ms took 0.5 % of a processor, this 0.06 %. */
export const eventLoopLookIntervalMs = 100;

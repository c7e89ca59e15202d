/** The longest wait for files that cannot be dropped yet, while nothing shows that they may be soon. */
const waitMsMax = 4_000;
/** After a wait that found no room the next ones are shorter, for a while. */
const shortWaitMs = 500;
const shortLastsMs = 30_000;
/** The others fetch files if they receive so many bytes in that time: heartbeats have fewer. */
const progressBytesMin = 16_384;

/** The state of the cache's surroundings at one moment. */
interface Moment {
  readonly nowMs: number;
  /** The bytes that were sent to the other members until now. */
  readonly sentBytes: number;
}

/** One wait for room. */
interface RoomWait {
  /** `isComing`: a file is being fetched, which may be dropped then. */
  isOver(now: Moment, isComing: boolean): boolean;
}

/** How long programs wait for room in the cache. */
export class RoomPatience {
  #shortUntilMs = 0;

  begin({ nowMs: startMs, sentBytes }: Moment): RoomWait {
    let untilMs = startMs + (startMs < this.#shortUntilMs ? shortWaitMs : waitMsMax);
    let seenBytes = sentBytes;
    return {
      isOver: (now, isComing) => {
        if (isComing || now.sentBytes - seenBytes >= progressBytesMin) {
          // A fetch ends in any case. Files that the others have fetched can be dropped here.
          untilMs = now.nowMs + waitMsMax;
          seenBytes = now.sentBytes;
        }
        if (now.nowMs < untilMs) return false;
        this.#shortUntilMs = now.nowMs + shortLastsMs;
        return true;
      },
    };
  }

  /** There is room again. */
  reset(): void {
    this.#shortUntilMs = 0;
  }
}

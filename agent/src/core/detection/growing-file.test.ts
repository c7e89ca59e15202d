import { expect, test } from 'vitest';
import { type DirtyPath, largeFileWait, Settle } from './settle.ts';

const MiB = 1_048_576;

/** A large file that is written at an interval until `endMs`, and read at `bytesPerMs`. */
interface Growth {
  readonly intervalMs: number;
  /** By how much an interval may be longer or shorter. */
  readonly unevenMs?: number;
  readonly endMs: number;
  readonly bytesPerMs: number;
  sizeAt(ms: number): number;
}

/**
 * Reads the file as the loop does. A read ends and gives nothing when the file grows, and is journaled otherwise. Returns the bytes that were
 * read in all, and the longest time for which a change was not journaled: until the last one, and after it.
 */
function readGrowing({ intervalMs, unevenMs = 0, endMs, bytesPerMs, sizeAt }: Growth): {
  readonly readBytes: number;
  readonly behindMs: number;
  readonly lateMs: number;
} {
  const settle = new Settle();
  let [readBytes, behindMs, writtenMs, unreadMs] = [0, 0, 0, 0];
  let reading: { readonly due: DirtyPath; readonly fromMs: number; readonly untilMs: number } | undefined;
  const ended = (nowMs: number): number => {
    const spentMs = nowMs - (reading?.fromMs ?? nowMs);
    readBytes += spentMs * bytesPerMs;
    reading = undefined;
    return spentMs;
  };
  for (let nowMs = 0, nextMs = 0, count = 0; nowMs < endMs + 60_000; nowMs++) {
    if (nowMs === endMs || (nowMs < endMs && nowMs === nextMs)) {
      nextMs += intervalMs + Math.round(unevenMs * Math.sin(count++));
      writtenMs = nowMs;
      settle.mark('p', nowMs);
      if (reading !== undefined) {
        const { due } = reading;
        settle.readOvertaken(due, ended(nowMs), nowMs);
        settle.defer('p', due.firstMs, nowMs, nowMs);
      }
    }
    if (reading !== undefined && nowMs >= reading.untilMs) {
      settle.read(reading.due, sizeAt(writtenMs), ended(nowMs), nowMs);
      settle.published('p', nowMs);
      if (nowMs > endMs && writtenMs === endMs) return { readBytes, behindMs, lateMs: nowMs - endMs };
      behindMs = Math.max(behindMs, nowMs - unreadMs);
      unreadMs = writtenMs + intervalMs;
    }
    if (reading !== undefined) continue;
    for (const due of settle.takeDue(nowMs, 1)) {
      const bytes = sizeAt(writtenMs);
      const wait = largeFileWait(due, bytes, nowMs - writtenMs, nowMs);
      if (wait !== undefined) settle.awaitRead(due, wait, nowMs);
      else reading = { due, fromMs: nowMs, untilMs: nowMs + bytes / bytesPerMs };
    }
  }
  throw new Error('the file was never read after its last write');
}

test.each([
  [20, 1_000_000, 6],
  [100, 1_000_000, 6],
  [100, 200_000, 6],
  [1_000, 1_000_000, 70],
])(
  '[LC41] a download that grows every %i ms, read at %i bytes a millisecond, costs %i times its size at most',
  (intervalMs, bytesPerMs, sizesMax) => {
    const [endMs, size] = [600_000, 1_024 * MiB];
    const { readBytes, lateMs } = readGrowing({
      intervalMs,
      endMs,
      bytesPerMs,
      sizeAt: (ms) => (size * ms) / endMs,
    });
    expect(readBytes / size).toBeLessThan(sizesMax);
    expect(lateMs).toBeLessThan(5_000 + size / bytesPerMs);
  },
);

test.each([
  [20, 300],
  [64, 1_000],
  [100, 2_000],
  [300, 5_000],
  [600, 10_000],
])(
  '[LC41] a line that is added to a log of %i MiB each second is journaled after %i ms at most',
  (mebibytes, waitMs) => {
    const { behindMs } = readGrowing({
      intervalMs: 1_000,
      endMs: 300_000,
      bytesPerMs: 1_000_000,
      sizeAt: () => mebibytes * MiB,
    });
    expect(behindMs).toBeLessThan(waitMs);
  },
);

test.each([
  [50, 10, 200, 6_000_000, 5_000],
  [50, 0, 40, 1_000_000, 6_000],
  [100, 20, 60, 1_000_000, 6_000],
])(
  '[LC41] a file that grows every %i ms, %i more or less, to %i MB, read at %i bytes a millisecond, is %i ms behind at most',
  (intervalMs, unevenMs, megabytes, bytesPerMs, waitMs) => {
    const endMs = 40_000;
    const sizeAt = (ms: number) => (megabytes * 1e6 * ms) / endMs;
    const { behindMs } = readGrowing({ intervalMs, unevenMs, endMs, bytesPerMs, sizeAt });
    expect(behindMs).toBeLessThan(waitMs);
  },
);

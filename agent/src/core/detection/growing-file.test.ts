import { expect, test } from 'vitest';
import { largeFileDueMs, Settle } from './settle.ts';

const MiB = 1_048_576;

/** A large file that is written at an interval until `endMs`, and read at `bytesPerMs`. */
interface Growth {
  readonly intervalMs: number;
  readonly endMs: number;
  readonly bytesPerMs: number;
  sizeAt(ms: number): number;
}

/**
 * Reads the file as the loop does. A read gives nothing if the file grew meanwhile, and is journaled otherwise. `journaled` is called with the
 * time of that and the last write, and ends the run by true. Returns the bytes that were read in all.
 */
function readGrowing(
  { intervalMs, endMs, bytesPerMs, sizeAt }: Growth,
  journaled: (nowMs: number, writtenMs: number) => boolean,
): number {
  const settle = new Settle();
  let [readBytes, writtenMs] = [0, 0];
  let reading: { readonly untilMs: number; readonly writtenMs: number } | undefined;
  for (let nowMs = 0; nowMs < endMs + 60_000; nowMs++) {
    if (nowMs <= endMs && nowMs % intervalMs === 0) {
      writtenMs = nowMs;
      settle.mark('p', nowMs);
    }
    if (reading !== undefined && nowMs >= reading.untilMs) {
      const hasGrown = reading.writtenMs !== writtenMs;
      reading = undefined;
      if (hasGrown) {
        settle.readOvertaken('p', nowMs);
        settle.defer({ path: 'p', firstMs: nowMs, lastMs: nowMs }, nowMs);
      } else {
        settle.read('p', nowMs);
        settle.published('p', nowMs);
        if (journaled(nowMs, writtenMs)) return readBytes;
      }
    }
    if (reading !== undefined) continue;
    for (const due of settle.takeDue(nowMs, 1)) {
      const bytes = sizeAt(writtenMs);
      const againMs = largeFileDueMs(due, bytes, nowMs - writtenMs, nowMs);
      if (againMs !== undefined) settle.defer(due, againMs);
      else {
        readBytes += bytes;
        reading = { untilMs: nowMs + bytes / bytesPerMs, writtenMs };
      }
    }
  }
  throw new Error('the file was never read after its last write');
}

test.each([
  [20, 1_000_000, 6],
  [100, 1_000_000, 6],
  [100, 200_000, 6],
  [1_000, 1_000_000, 30],
])(
  '[LC41] a download that grows every %i ms, read at %i bytes a millisecond, is read %i times at most',
  (intervalMs, bytesPerMs, sizesMax) => {
    const [endMs, size] = [600_000, 1_024 * MiB];
    let lateMs = 0;
    const readBytes = readGrowing({ intervalMs, endMs, bytesPerMs, sizeAt: (ms) => (size * ms) / endMs }, (nowMs) => {
      lateMs = nowMs - endMs;
      return nowMs > endMs;
    });
    expect(readBytes / size).toBeLessThan(sizesMax);
    expect(lateMs).toBeLessThan(5_000 + size / bytesPerMs);
  },
);

test.each([
  [20, 1_000],
  [100, 1_000],
  [300, 10_000],
  [600, 30_000],
])(
  '[LC41] a line that is added to a log of %i MiB each second is journaled after %i ms at most',
  (mebibytes, waitMs) => {
    const endMs = 300_000;
    let [unreadMs, longestMs] = [0, 0];
    readGrowing(
      { intervalMs: 1_000, endMs, bytesPerMs: 1_000_000, sizeAt: () => mebibytes * MiB },
      (nowMs, writtenMs) => {
        longestMs = Math.max(longestMs, nowMs - unreadMs);
        unreadMs = writtenMs + 1_000;
        return writtenMs === endMs;
      },
    );
    expect(longestMs).toBeLessThan(waitMs);
  },
);

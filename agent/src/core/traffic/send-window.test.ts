import { describe, expect, test } from 'vitest';
import { arrivalBytes, queueMs, SendWindow } from './send-window.ts';

/** The present behaviour of a simulated link. */
interface Line {
  bytesPerMs: number;
  /** The delay of the empty link, there and back. */
  roundTripMs: number;
  /** An additional delay of each report, drawn when it is sent. */
  jitterMs?: () => number;
  /** Bytes of other senders that wait in the bottleneck. */
  foreignBytes?: number;
  /** The threads of both sides read only each time that this many milliseconds have passed. */
  busyMs?: number;
}

interface Sample {
  readonly atMs: number;
  /** How long a signal would wait now, behind everything in the bottleneck. */
  readonly queuedMs: number;
  readonly arrivedBytes: number;
  readonly windowBytes: number;
}

/** A sender that always has data, behind a bottleneck with a queue without end. */
class Bottleneck {
  readonly window = new SendWindow();
  readonly line: Line;
  readonly samples: Sample[] = [];
  #nowMs = 0;
  #freeAtMs = 0;
  #arrivedBytes = 0;
  sentBytes = 0;
  /** Pieces on their way: the total of sent bytes with each, and the time of its report. */
  #reports: { readonly totalBytes: number; readonly atMs: number }[] = [];

  constructor(line: Line) {
    this.line = line;
  }

  /** Sends for `ms`, as much as the window admits; `availableBytes`: no more than this in all. */
  run(ms: number, availableBytes = Number.POSITIVE_INFINITY): this {
    const endMs = this.#nowMs + ms;
    for (; this.#nowMs < endMs; this.#nowMs += 0.25) {
      while (this.#reports[0] !== undefined && this.#reports[0].atMs <= this.#nowMs) {
        const { totalBytes } = this.#reports.shift() as { totalBytes: number };
        this.#arrivedBytes = totalBytes;
        expect(this.window.arrived(totalBytes, this.#nowMs, this.line.busyMs ?? 0)).toBe(true);
      }
      for (;;) {
        const bytes = Math.min(this.window.pieceBytes, availableBytes - this.sentBytes);
        if (bytes <= 0 || !this.window.admits(bytes)) break;
        this.#send(bytes);
      }
      this.samples.push({
        atMs: this.#nowMs,
        queuedMs: Math.max(0, this.#freeAtMs - this.#nowMs),
        arrivedBytes: this.#arrivedBytes,
        windowBytes: this.window.bytes,
      });
    }
    return this;
  }

  #send(bytes: number): void {
    const { bytesPerMs, roundTripMs, jitterMs = () => 0, foreignBytes = 0, busyMs = 0 } = this.line;
    const readMs = (ms: number): number => (busyMs === 0 ? ms : Math.ceil(ms / busyMs) * busyMs);
    this.sentBytes += bytes;
    this.window.sent(bytes, this.#nowMs);
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#nowMs + foreignBytes / bytesPerMs) + bytes / bytesPerMs;
    const thereMs = readMs(this.#freeAtMs + roundTripMs / 2);
    const reportMs = readMs(Math.max(thereMs + roundTripMs / 2 + jitterMs(), this.#reports.at(-1)?.atMs ?? 0));
    this.#reports.push({ totalBytes: this.sentBytes, atMs: reportMs });
  }

  /** The share of the line that was used in the last `ms`, and the longest and the mean queue. */
  last(ms: number): { used: number; queuedMsMax: number; queuedMsMean: number } {
    const samples = this.samples.filter(({ atMs }) => atMs >= this.#nowMs - ms);
    const bytes = (samples.at(-1)?.arrivedBytes ?? 0) - (samples[0]?.arrivedBytes ?? 0);
    return {
      used: bytes / ms / this.line.bytesPerMs,
      queuedMsMax: samples.reduce((most, { queuedMs }) => Math.max(most, queuedMs), 0),
      queuedMsMean: samples.reduce((sum, { queuedMs }) => sum + queuedMs, 0) / samples.length,
    };
  }
}

const megabyte = 1_000; // bytes per ms

describe('[MB21] a link that is full', () => {
  test.each([
    ['300 KB/s, 40 ms', 300, 40],
    ['1 MB/s, 1 ms', megabyte, 1],
    ['1 MB/s, 16 ms', megabyte, 16],
    ['1 MB/s, 60 ms', megabyte, 60],
    ['2 MB/s, 240 ms', 2 * megabyte, 240],
    ['12 MB/s, 2 ms', 12 * megabyte, 2],
    ['12 MB/s, 100 ms', 12 * megabyte, 100],
    ['125 MB/s, 0.5 ms', 125 * megabyte, 0.5],
    ['125 MB/s, 30 ms', 125 * megabyte, 30],
  ])('%s: it is used, and its queue stays short', (_name, bytesPerMs, roundTripMs) => {
    const { used, queuedMsMean, queuedMsMax } = new Bottleneck({ bytesPerMs, roundTripMs }).run(45_000).last(42_000);
    // The smallest window has three pieces.
    const limitMs = Math.max(queueMs(roundTripMs, bytesPerMs), (3 * arrivalBytes) / bytesPerMs);
    expect(used).toBeGreaterThan(0.9);
    // The delay of the empty link is measured again every 10 s: the queue is not taken for a part of it.
    expect(queuedMsMean).toBeLessThan(1.3 * limitMs);
    // After that a whole window is sent at once.
    expect(queuedMsMax).toBeLessThan(2 * (roundTripMs + limitMs));
  });

  // To measure the empty link took two fifths of the time of the first one.
  test.each([
    ['20 kB/s, 2 s', 20, 2_000],
    ['250 kB/s, 600 ms', 250, 600],
  ])('%s, as by satellite: it is used', (_name, bytesPerMs, roundTripMs) => {
    const { used, queuedMsMean } = new Bottleneck({ bytesPerMs, roundTripMs }).run(300_000).last(270_000);
    expect(used).toBeGreaterThan(0.85);
    expect(queuedMsMean).toBeLessThan(2 * Math.max(queueMs(roundTripMs, bytesPerMs), (3 * arrivalBytes) / bytesPerMs));
  });

  test.each([
    ['125 MB/s, 0.5 ms', 125 * megabyte, 0.5, 20],
    ['12 MB/s, 16 ms', 12 * megabyte, 16, 40],
    ['1 MB/s, 16 ms', megabyte, 16, 40],
  ])(
    '%s, between busy threads: it is used, and no more waits than until they read',
    (_name, bytesPerMs, roundTripMs, busyMs) => {
      const link = new Bottleneck({ bytesPerMs, roundTripMs, busyMs }).run(20_000);
      expect(link.last(15_000).used).toBeGreaterThan(0.85);
      expect(link.last(15_000).queuedMsMean).toBeLessThan(2 * busyMs + 2 * queueMs(roundTripMs, bytesPerMs));
    },
  );

  test('that becomes slower: the queue is short again when the bytes on their way have arrived', () => {
    const link = new Bottleneck({ bytesPerMs: 12 * megabyte, roundTripMs: 4 }).run(2_000);
    link.line.bytesPerMs = megabyte;
    expect(link.run(3_000).last(1_000).queuedMsMean).toBeLessThan(queueMs(4, megabyte) + 4);
    expect(link.last(1_000).used).toBeGreaterThan(0.95);
  });

  test('that becomes faster, or longer, is used again', () => {
    const link = new Bottleneck({ bytesPerMs: megabyte, roundTripMs: 16 }).run(2_000);
    link.line.bytesPerMs = 12 * megabyte;
    expect(link.run(2_000).last(1_000).used).toBeGreaterThan(0.95);
    link.line.roundTripMs = 200;
    expect(link.run(7_000).last(2_000).used).toBeGreaterThan(0.95);
  });

  test('of which other programs take a part, and fill its queue, is still used', () => {
    const link = new Bottleneck({ bytesPerMs: 2 * megabyte, roundTripMs: 20 }).run(2_000);
    link.line.foreignBytes = 400_000;
    // 200 ms of queue that are not ours: they count as a part of the link.
    expect(link.run(6_000).last(2_000).used).toBeGreaterThan(0.5);
    link.line.foreignBytes = 0;
    expect(link.run(15_000).last(2_000).queuedMsMax).toBeLessThan(2 * queueMs(20, 2 * megabyte));
  });

  test.each([
    ['1 MB/s, 40 ms', megabyte, 40, 20, 0.6],
    ['5 MB/s, 4 ms', 5 * megabyte, 4, 15, 0.6],
    ['50 MB/s, 2 ms', 50 * megabyte, 2, 15, 0.6],
  ])('%s: it is used even if its delay varies, as over a radio', (_name, bytesPerMs, roundTripMs, mostMs, usedMin) => {
    let chance = 1;
    const jitterMs = (): number => {
      chance = (chance * 48_271) % 2_147_483_647;
      return mostMs * (chance / 2_147_483_647);
    };
    const link = new Bottleneck({ bytesPerMs, roundTripMs, jitterMs });
    expect(link.run(10_000).last(8_000).used).toBeGreaterThan(usedMin);
  });
});

describe('the window', () => {
  test('a pause, and single messages, leave it as it is', () => {
    const link = new Bottleneck({ bytesPerMs: 10 * megabyte, roundTripMs: 20 }).run(3_000);
    const { bytes } = link.window;
    const before = link.sentBytes;
    link.run(5_000, before);
    for (let message = 1; message <= 50; message++) link.run(100, before + message * 20_000);
    expect(link.window.bytes).toBeGreaterThan(bytes * 0.95);
  });

  test('a receiver that is late by 300 ms once costs it little', () => {
    const line: Line = { bytesPerMs: 50 * megabyte, roundTripMs: 1 };
    const link = new Bottleneck(line).run(2_000);
    line.jitterMs = () => 300;
    link.run(100);
    delete line.jitterMs;
    expect(link.run(1_500).last(1_000).used).toBeGreaterThan(0.95);
  });

  test('a report of bytes that were not sent is refused', () => {
    const window = new SendWindow();
    window.sent(10_000, 0);
    expect(window.arrived(10_001, 1, 0)).toBe(false);
    expect(window.arrived(10_000, 2, 0)).toBe(true);
    expect(window.onTheWayBytes).toBe(0);
  });

  test('a message without a report, shorter than what is reported, does not block it', () => {
    const window = new SendWindow();
    for (let sent = 0; sent < 100; sent++) {
      expect(window.admits(arrivalBytes)).toBe(true);
      window.sent(arrivalBytes - 1, sent);
      window.sent(1, sent);
      expect(window.arrived(sent * arrivalBytes + arrivalBytes - 1, sent + 0.5, 0)).toBe(true);
    }
  });
});

import { uptime } from 'node:os';
import type { Boot, Clock, Timer } from '../sync/ports/clock.ts';
import { bootId } from './boot-id.ts';

/**
 * 1971. A machine whose clock has no battery may boot before 1970. No message or answer can carry such a time, nor one that is computed
 * from it, such as when another member was last seen.
 */
const earliestMs = 365 * 86_400_000;

/** The machine's clocks and timers. */
export const nodeClock: Clock = {
  wallMs: () => Math.max(earliestMs, Date.now()),
  monotonicMs: () => performance.now(),
  localMinute() {
    const now = new Date();
    return now.getHours() * 60 + now.getMinutes();
  },
  random: () => Math.random(),
  after(delayMs: number, run: () => void): Timer {
    // A timer waits for a millisecond at least: what is due now, or nearly, runs in this turn of the event loop. To turn for longer would take
    // a core from the program that writes the file.
    if (delayMs < 0.5) {
      const immediate = setImmediate(run);
      return { cancel: () => clearImmediate(immediate) };
    }
    // A timer alone must not keep the agent running: once its sockets are closed there is nothing left to wait for.
    const timeout = setTimeout(run, delayMs).unref();
    return { cancel: () => clearTimeout(timeout) };
  },
};

/** Returns a function that returns the average number of processors that this process used since its last call. */
export function loadMeter(): () => number {
  let lastUsage = process.cpuUsage();
  let lastMs = performance.now();
  return () => {
    const nowMs = performance.now();
    const used = process.cpuUsage(lastUsage);
    const elapsedMs = nowMs - lastMs;
    lastUsage = process.cpuUsage();
    lastMs = nowMs;
    return elapsedMs < 1 ? 0 : Math.round((used.user + used.system) / 10 / elapsedMs) / 100;
  };
}

/** The current boot of this machine, from the kernel; undefined if it does not say. */
export function readBoot(): Boot | undefined {
  const id = bootId();
  return id === undefined ? undefined : { id, beganMs: Math.round(nodeClock.wallMs() - uptime() * 1_000) };
}

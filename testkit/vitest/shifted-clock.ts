import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ShiftedClock } from '../machine/shifted-clock.ts';

/** A clock for the members of one test. It shows the real time until it is shifted. */
export async function openShiftedClock(): Promise<ShiftedClock> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-clock-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return new ShiftedClock(join(directory, 'shift'));
}

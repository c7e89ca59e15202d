import { setTimeout as pause } from 'node:timers/promises';
import type { Status } from '@lockstep/shared/api';
import type { Member } from '../testkit/member.ts';

const waitMsMax = 3_600_000;
const intervalMsMin = 10;
/** A check takes processor time of the agent that is measured. */
const intervalShare = 0.01;

/** Resolves when `condition` holds for the status of each member, at the latest 10 ms, or a hundredth of the time, after it does. */
export async function until(members: readonly Member[], condition: (status: Status) => boolean): Promise<void> {
  const startMs = performance.now();
  for (const member of members) {
    while (!condition(await member.status())) {
      const waitedMs = performance.now() - startMs;
      if (waitedMs > waitMsMax) throw new Error(`${member.name} does not reach the expected state`);
      await pause(Math.max(intervalMsMin, intervalShare * waitedMs));
    }
  }
}

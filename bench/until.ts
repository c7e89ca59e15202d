import type { Status } from '@lockstep/shared/api';
import { eventually } from '../testkit/eventually.ts';
import type { Member } from '../testkit/member.ts';

const patience = { timeoutMs: 3_600_000, intervalMs: 10 };

/** Resolves when `condition` holds for the status of each member, at the latest 10 ms after it does. */
export async function until(members: readonly Member[], condition: (status: Status) => boolean): Promise<void> {
  for (const member of members) {
    await eventually(async () => {
      if (!condition(await member.status())) throw new Error(`${member.name} does not reach the expected state`);
    }, patience);
  }
}

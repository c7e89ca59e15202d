import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { remoteEntry } from '../../core/entry.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { CopiesKeeper } from './copies-keeper.ts';
import type { Placement } from './placement.ts';

const bee = 'bbbb.one' as OriginId;
const minuteMs = 60_000;

/** A member on demand that is to keep all files, and the paths that its keeper fetched. `code`: why a fetch fails. */
function placed({ code, bytesMax = 1_000_000 }: { readonly code?: string; readonly bytesMax?: number } = {}) {
  const member = new LoneMember(undefined, { onDemand: true });
  const { context, journal } = member;
  const fetched: string[] = [];
  const fetch = async (path: string) => {
    fetched.push(path);
    if (code !== undefined) return { isHere: false, code };
    journal.disk.record([{ path, entry: undefined }]);
    return { isHere: true };
  };
  const placement = { rules: { areTrivial: false }, isPlacedHere: () => true } as unknown as Placement;
  const self = { ...context.self, onDemand: true as const };
  new CopiesKeeper({ ...context, self }, { placement, fetch, bytesMax: () => bytesMax });
  const film = member.operation('film', { kind: 'put', text: 'a film' }, { origin: bee });
  return { member, context, journal, film, fetched };
}

// The simulator's seeds 36104 and 36266: the operation came before the rule, or before the last start.
test('[CP3] a copy whose operation is not applied yet when the files are looked through is fetched once it is', async () => {
  const { member, film, fetched, context, journal } = placed();
  member.received(film);
  context.facts.placed.publish();
  await member.passes(minuteMs);
  expect(fetched).toEqual([]);
  journal.disk.record([remoteEntry('film', film)]);
  context.facts.applied.publish({ entries: 0, bytes: 0 });
  await member.passes(minuteMs);
  expect(fetched).toEqual(['film']);
});

// The simulator's seed 36622: it was fetched again every 18 seconds, and a problem came and went every second.
test('[CP3] a copy that cannot be put at its path is tried again after an hour, another one after seconds', async () => {
  for (const [code, attempts] of [
    ['path-in-the-way', 2],
    ['content-missing', 400],
  ] as const) {
    const { member, film, fetched, context, journal } = placed({ code });
    member.received(film);
    journal.disk.record([remoteEntry('film', film)]);
    context.facts.placed.publish();
    await member.passes(70 * minuteMs);
    expect(fetched.length).toBeGreaterThanOrEqual(attempts);
    expect(fetched.length).toBeLessThan(attempts * 1.5);
  }
});

// The simulator's seed 104060: one small copy was fetched every ten seconds, while a large one did not fit.
test('[CP3] a copy for which there is no room does not delay smaller ones', async () => {
  const { member, film, fetched, context, journal } = placed({ bytesMax: 1_000 });
  const operations = Array.from({ length: 20 }, (_, index) =>
    member.operation(
      `file-${10 + index}`,
      { kind: 'put', text: index % 7 === 0 ? 'large'.repeat(500) : 'small' },
      { origin: bee },
    ),
  );
  member.received(film, ...operations);
  journal.disk.record(operations.map((operation) => remoteEntry(operation.path, operation)));
  context.facts.placed.publish();
  await member.passes(5_000);
  expect(fetched).toHaveLength(17);
});

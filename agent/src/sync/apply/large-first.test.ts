import { batchPathsMax, type OriginId, smallFetchBytesMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

test.each(['film', 'a/b/film'])(
  '[CT31] the fetch of %s begins while a pass over many small files goes on',
  async (film) => {
    const member = new LoneMember();
    const { context, journal, transfers } = member;
    const { facts } = context;
    const origin = 'bee' as OriginId;
    const small = Array.from({ length: 3 * batchPathsMax }, (_, index) => `small-${index}`);
    for (const path of small) {
      member.keeps(path);
      member.received(member.operation(path, { kind: 'put', text: path }, { origin }));
    }
    // Its path comes before all that the pass has still to visit.
    const directories = film === 'film' ? [] : ['a', 'a/b'];
    const above = directories.map((path) => member.operation(path, { kind: 'mkdir' }, { origin }));
    const shape = member.operation(film, { kind: 'put', text: 'film' }, { origin });
    const large = { ...shape, size: smallFetchBytesMax + 1 };
    const left: number[] = [];
    const fetch = transfers.fetch.bind(transfers);
    transfers.fetch = (operation, ended) => {
      if (operation.path === film) left.push(journal.totals.counts().pending);
      return fetch(operation, ended);
    };
    let isReceived = false;
    facts.applied.on(() => {
      if (isReceived) return;
      isReceived = true;
      member.received(...above, large);
      facts.received.publish([...above, large]);
    });
    const loop = new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => []));
    loop.poke();
    await member.passes(60_000);
    expect(left[0]).toBeGreaterThan(2 * batchPathsMax);
    loop.stop();
  },
);

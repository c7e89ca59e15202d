import { batchPathsMax, type OriginId, smallFetchBytesMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { ApplyLoop } from './apply-loop.ts';
import { RenameGate } from './rename-gate.ts';

test('[CT31] the fetch of a large content begins while a pass over many small files goes on', async () => {
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
  const large = {
    ...member.operation('film', { kind: 'put', text: 'film' }, { origin }),
    size: smallFetchBytesMax + 1,
  };
  const left: number[] = [];
  const fetch = transfers.fetch.bind(transfers);
  transfers.fetch = (operation, ended) => {
    if (operation.path === 'film') left.push(journal.totals.counts().pending);
    return fetch(operation, ended);
  };
  let isReceived = false;
  facts.applied.on(() => {
    if (isReceived) return;
    isReceived = true;
    member.received(large);
    facts.received.publish([large]);
  });
  const loop = new ApplyLoop(context, transfers, new RenameGate(journal, context.clock, () => []));
  loop.poke();
  await member.passes(60_000);
  expect(left[0]).toBeGreaterThan(2 * batchPathsMax);
  loop.stop();
});

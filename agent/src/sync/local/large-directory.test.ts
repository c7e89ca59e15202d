import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { SlowClock } from './_fixtures.ts';
import { LocalChanges } from './local-changes.ts';
import { ScanQueue } from './scan-queue.ts';

const count = 700;

test('[LC46] a large directory is compared in parts, between which other tasks run', async () => {
  const member = new LoneMember();
  const { disk } = member.volume;
  disk.mkdir('wide');
  for (let number = 0; number < count; number++) disk.write(`wide/f${number}`, contentOfText('same'));
  const started = new LocalChanges(member.context, member.operationWriter).start();
  await member.passes(60_000);
  await started;
  expect(member.journal.disk.children('wide', undefined, 2 * count)).toHaveLength(count);
  // Found without an event, as after a burst.
  disk.write('wide/new', contentOfText('new'));
  disk.unlink('wide/f7');
  const clock = new SlowClock(member.context.clock, 1);
  const marked: string[] = [];
  const scans = new ScanQueue(
    { ...member.context, clock },
    {
      mark: (path) => marked.push(path),
      scanned: () => undefined,
      lostSight: () => undefined,
      room: () => Promise.resolve(),
    },
  );
  const scanned = scans.request('wide', true);
  await member.passes(60_000);
  await scanned;
  expect(marked).toEqual(['wide/new', 'wide/f7']);
  expect(clock.turns).toBeGreaterThan(count / 20);
});

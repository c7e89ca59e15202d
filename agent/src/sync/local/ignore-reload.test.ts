import { batchPathsMax, type OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { ignoreFileName } from '../../core/ignore/ignore-rules.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Context } from '../state/context.ts';
import { IgnoreFile } from '../state/ignore-file.ts';
import { SlowClock } from './_fixtures.ts';
import { followIgnoreRules, untilRulesAreKnown } from './ignore-reload.ts';

/** A newcomer that received an operation of another member for `.lockstepignore`. */
async function newcomer(): Promise<{ readonly ant: LoneMember; readonly context: Context }> {
  const ant = new LoneMember();
  const context = { ...ant.context, ignored: new IgnoreFile(undefined) };
  const put = ant.operation(ignoreFileName, { kind: 'put', text: '*.tmp\n' }, { origin: 'bee.1' as OriginId });
  ant.received(put);
  return { ant, context };
}

/** Puts the file into the folder and records its row. */
async function isPlaced({ volume, context, journal }: LoneMember): Promise<void> {
  volume.disk.write(ignoreFileName, contentOfText('*.tmp\n'));
  const [seen] = await context.folder.observe([{ path: ignoreFileName }]);
  const [head] = journal.heads.at(ignoreFileName);
  if (seen?.state !== 'file' || head === undefined) throw new Error('the file is missing');
  const { origin, seq } = head;
  const entry = { dot: { origin, seq }, content: seen.content, fingerprint: seen.fingerprint, racy: false };
  journal.disk.record([{ path: ignoreFileName, entry }]);
}

test('[IG7] a newcomer waits for the rules of the others until their file is here', async () => {
  const { ant, context } = await newcomer();
  let isKnown = false;
  void untilRulesAreKnown(context, () => false).then(() => {
    isKnown = true;
  });
  await ant.passes(60_000);
  expect(isKnown).toBe(false);
  ant.volume.disk.write(ignoreFileName, contentOfText('*.tmp\n'));
  await ant.passes(1_000);
  expect([isKnown, context.ignored.ignores('a.tmp', false)]).toEqual([true, true]);
});

test('[IG7] a newcomer whose user removes the rules before they were read continues without rules', async () => {
  const { ant, context } = await newcomer();
  const placed = isPlaced(ant);
  await ant.passes(10);
  await placed;
  ant.volume.disk.unlink(ignoreFileName);
  let isKnown = false;
  void untilRulesAreKnown(context, () => false).then(() => {
    isKnown = true;
  });
  await ant.passes(900);
  expect(isKnown, 'while the file may be in the middle of a save').toBe(false);
  await ant.passes(600);
  expect([isKnown, context.ignored.ignores('a.tmp', false)]).toEqual([true, false]);
});

test('[IG12] entries that are no longer ignored are made pending in parts, between which other tasks run', async () => {
  const ant = new LoneMember();
  const ignored = new IgnoreFile('ignored*\n');
  const clock = new SlowClock(ant.context.clock, 10);
  const count = 2 * batchPathsMax + 1;
  const heads = Array.from({ length: count }, (_, number) =>
    ant.operation(`ignored${number}`, { kind: 'put', text: 'x' }, { origin: 'bee.1' as OriginId }),
  );
  ant.received(...heads);
  ant.journal.disk.record(
    heads.map(({ path, origin, seq }) => ({ path, entry: { dot: { origin, seq }, racy: false } })),
  );
  expect(ant.journal.totals.counts().pending).toBe(0);
  let turns = 0;
  for (const context = { ...ant.context, ignored, clock }; ignored.text !== ''; ) {
    const followed = followIgnoreRules(context);
    await ant.passes(2_000);
    await followed;
    turns = clock.turns;
  }
  expect(ant.journal.totals.counts().pending).toBe(count);
  expect(turns).toBe(2);
});

import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { followIgnoreRules } from './ignore-reload.ts';
import { LocalChanges } from './local-changes.ts';

async function startedMember(): Promise<{ readonly member: LoneMember; readonly changes: LocalChanges }> {
  const member = new LoneMember();
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  return { member, changes };
}

/** A path of directories, whose last name alone is beyond the limit of a path. */
const names = Array.from({ length: 13 }, () => 'x'.repeat(250));
const tooLong = names.join('/');

test('[WT23] what has a path that is too long is reported while it is there, and keeps no change waiting', async () => {
  const { member, changes } = await startedMember();
  const { disk } = member.volume;
  for (const [depth] of names.entries()) disk.mkdir(names.slice(0, depth + 1).join('/'));
  disk.write(`${tooLong}/below`, contentOfText('below'));
  await member.passes(3_000);
  const { problems, journal } = member.context;
  const detail = `The path ${tooLong} is longer than 3072 bytes. It is left alone; shorten it to have it replicated.`;
  expect(problems.list()).toMatchObject([{ code: 'path-too-long', path: tooLong, detail }]);
  expect(changes.unsettled).toBe(0);
  changes.scan('', true);
  await member.passes(3_000);
  expect(problems.list()).toMatchObject([{ code: 'path-too-long', path: tooLong, detail }]);

  disk.unlink(`${tooLong}/below`);
  for (const [depth] of names.entries()) disk.rmdir(names.slice(0, names.length - depth).join('/'));
  await member.passes(3_000);
  expect(problems.list()).toEqual([]);
  expect(changes.unsettled).toBe(0);
  expect(journal.heads.at('x'.repeat(250))).toMatchObject([{ kind: 'delete' }]);
});

test('[LC10] what is ignored is not reported by a scan either', async () => {
  const { member, changes } = await startedMember();
  const { disk } = member.volume;
  const { problems } = member.context;
  disk.mkfifo('pipe');
  await member.passes(3_000);
  expect(problems.list()).toMatchObject([{ code: 'path-special', path: 'pipe' }]);
  disk.write('.lockstepignore', contentOfText('pipe\n'));
  const followed = followIgnoreRules(member.context);
  await member.passes(3_000);
  await followed;
  changes.scan('', true);
  await member.passes(3_000);
  expect(problems.list()).toEqual([]);
});

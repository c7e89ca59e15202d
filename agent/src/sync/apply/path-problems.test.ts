import { type OriginId, problemsMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { ApplyLoop } from './apply-loop.ts';
import { PathProblems } from './path-problems.ts';
import { RenameGate } from './rename-gate.ts';

const bee = 'bee' as OriginId;

/** A member that knows a file whose content no member has, while other members know more operations. */
function behind() {
  const member = new LoneMember();
  const put = member.operation('file', { kind: 'put', text: 'gone' }, { origin: bee });
  member.received(put);
  const others = { knowMore: true };
  const problems = new PathProblems(member.context, { mayLearnMore: () => others.knowMore, isBeingSent: () => false });
  const report = (): void => problems.report('file', put, 'content-missing', 'No member has it.');
  const reported = (): readonly string[] => member.context.problems.list().map(({ code, path }) => `${code} ${path}`);
  report();
  return { member, put, others, problems, report, reported };
}

test('[MT18] a missing content is not reported while the operation that replaced it may be on its way', () => {
  const { member, put, others, problems, reported } = behind();
  problems.withdraw();
  expect(reported()).toEqual([]);
  member.received(member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] }));
  others.knowMore = false;
  problems.withdraw();
  expect(reported()).toEqual([]);
});

test('[MT18] a missing content that is still needed when all operations are known is reported', async () => {
  const { member, others, problems, reported } = behind();
  others.knowMore = false;
  await member.passes(6_000);
  problems.withdraw();
  expect(reported()).toEqual(['content-missing file']);
});

test('[MT18] a missing content is not reported while another member may be about to journal its replacement', async () => {
  const { member, put, others, problems, report, reported } = behind();
  others.knowMore = false;
  await member.passes(4_000);
  report();
  problems.withdraw();
  expect(reported()).toEqual([]);
  member.received(member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] }));
  await member.passes(2_000);
  problems.withdraw();
  expect(reported()).toEqual([]);
});

test('[MT18] members that make operations without end delay the report for half a minute', async () => {
  const { member, problems, report, reported } = behind();
  await member.passes(29_000);
  report();
  problems.withdraw();
  expect(reported()).toEqual([]);
  await member.passes(2_000);
  report();
  expect(reported()).toEqual(['content-missing file']);
});

test('[MT10] a problem of applying stays while its path is observed as it was before, also with a directory above', async () => {
  const member = new LoneMember();
  const { problems: reported } = member.context;
  const directory = member.operation('directory', { kind: 'mkdir' }, { origin: bee });
  const file = member.operation('directory/file', { kind: 'put', text: 'new' }, { origin: bee });
  member.received(directory, file);
  const problems = new PathProblems(member.context, { mayLearnMore: () => false, isBeingSent: () => false });
  const changes = new LocalChanges(member.context, member.operationWriter);
  const started = changes.start();
  await member.passes(10_000);
  await started;
  for (const head of [directory, file])
    problems.report(head.path, head, 'path-io', `The disk answered EIO for ${head.path}.`);
  const before = reported.list();
  expect(before.map(({ path }) => path)).toEqual(['directory', 'directory/file']);
  changes.mark('directory/file');
  await member.passes(5_000);
  problems.withdraw();
  expect(reported.list()).toEqual(before);
  // Their user makes the entries that were to come.
  member.volume.disk.mkdir('directory');
  member.volume.disk.write('directory/file', contentOfText('new'));
  await member.passes(10_000);
  problems.withdraw();
  expect(reported.list()).toEqual([]);
});

test.each(['replaces a file', 'was there before the file'])(
  '[MT10] a pipe that %s is one problem of its path, which names the way out, until no entry belongs there',
  async (moment) => {
    const member = new LoneMember();
    const { context, journal, volume } = member;
    const reported = (): readonly string[] => context.problems.list().map(({ code, path }) => `${code} ${path}`);
    if (moment === 'replaces a file') volume.disk.write('name', contentOfText('text'));
    else volume.disk.mkfifo('name');
    const changes = new LocalChanges(context, member.operationWriter);
    const loop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
    const started = changes.start();
    await member.passes(10_000);
    await started;
    if (moment === 'replaces a file') {
      volume.disk.unlink('name');
      volume.disk.mkfifo('name');
      member.keeps('text');
    } else {
      expect(reported()).toEqual(['path-special name']);
      member.keeps('text');
      member.received(member.operation('name', { kind: 'put', text: 'text' }, { origin: bee }));
    }
    const seconds = async (count: number): Promise<void> => {
      for (let second = 0; second < count; second++) {
        await member.passes(1_000);
        loop.poke();
        context.facts.second.publish();
      }
    };
    await seconds(30);
    expect(reported()).toEqual(['path-in-the-way name']);
    changes.mark('name');
    context.facts.unscanned.publish('');
    await seconds(30);
    expect(reported()).toEqual(['path-in-the-way name']);
    member.received(member.operation('name', { kind: 'delete' }, { origin: bee, parents: journal.heads.at('name') }));
    await seconds(30);
    expect(reported()).toEqual(['path-special name']);
    volume.disk.unlink('name');
    await seconds(30);
    expect(reported()).toEqual([]);
    expect(member.errors).toEqual([]);
  },
);

test('[LC10] a file that a user puts over a pipe, which had replaced a file, is an edit of that file', async () => {
  const member = new LoneMember();
  const { context, journal, volume } = member;
  volume.disk.write('name', contentOfText('text'));
  const changes = new LocalChanges(context, member.operationWriter);
  const loop = new ApplyLoop(context, member.transfers, new RenameGate(journal, context.clock, () => []));
  const started = changes.start();
  await member.passes(10_000);
  await started;
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      await member.passes(1_000);
      loop.poke();
      context.facts.second.publish();
    }
  };
  volume.disk.unlink('name');
  volume.disk.mkfifo('name');
  await seconds(30);
  volume.disk.write('new', contentOfText('the next'));
  volume.disk.rename('new', 'name');
  await seconds(30);
  expect(journal.heads.at('name')).toMatchObject([{ content: contentOfText('the next').id }]);
});

test('[MT10] of more problems than are shown each ends when its path no longer has to be applied', () => {
  const member = new LoneMember();
  const { problems: reported } = member.context;
  const problems = new PathProblems(member.context, { mayLearnMore: () => false, isBeingSent: () => false });
  const puts = Array.from({ length: 2 * problemsMax + 5 }, (_, index) => {
    return member.operation(`file-${index}`, { kind: 'put', text: 'new' }, { origin: bee });
  });
  member.received(...puts);
  for (const put of puts) problems.report(put.path, put, 'path-io', 'The disk answered EIO.');
  problems.withdraw();
  expect(reported.count).toBe(puts.length);
  const [, ...others] = puts;
  member.received(
    ...others.map((put) => member.operation(put.path, { kind: 'delete' }, { origin: bee, parents: [put] })),
  );
  for (let turn = 0; turn < 3; turn++) problems.withdraw();
  expect(reported.list()).toMatchObject([{ path: 'file-0', code: 'path-io' }]);
  expect(reported.count).toBe(1);
});

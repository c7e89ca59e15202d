import type { Operation, OriginId } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import type { Action } from '../../core/plan/action.ts';
import type { PlanStep } from '../../core/plan/plan-step.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { FailedSteps, noteBatch, recordBatch } from './interrupted-batch.ts';

const bee = 'bee' as OriginId;

let member: LoneMember;
let changes: LocalChanges;

/** Starts the watcher, and waits until the whole folder was compared with the journal. */
async function startAgent(): Promise<void> {
  changes = new LocalChanges(member.context, member.operationWriter, { rescanIntervalMs: 600_000 });
  const started = changes.start();
  await member.passes(3_000);
  await started;
}

/** Begins a batch that puts an entry at `path`, or executes `action` there. */
function begins(
  path: string,
  action: Action = { do: 'symlink', path, expected: 'absent', target: '', mtimeUs: 0 },
): void {
  noteBatch(member.journal, [stepAt(path, action)]);
}

function stepAt(path: string, action: Action): PlanStep {
  return { path, request: { action }, record: () => [] };
}

/** Restarts the agent. */
async function beginsAgain(): Promise<void> {
  const recorded = new FailedSteps(member.context).recordInterrupted();
  await member.passes(1_000);
  await recorded;
}

/** Puts the entry of the operation at its path, as the agent does. */
function puts({ path, mode = 0o644, mtimeUs = 0 }: Operation, text: string): void {
  const { disk } = member.volume;
  disk.write('/elsewhere/new', contentOfText(text), mode);
  disk.utimes('/elsewhere/new', mtimeUs / 1_000);
  disk.rename('/elsewhere/new', path);
}

/** A user replaces the file at the path, as editors do. */
function replaces(path: string, text: string): void {
  member.volume.disk.write(`${path}.tmp`, contentOfText(text));
  member.volume.disk.rename(`${path}.tmp`, path);
}

const newest = (path: string): Operation | undefined =>
  member.journal.log.rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })[0]?.operation;
const headTexts = (path: string, ...texts: readonly string[]): readonly (string | undefined)[] => {
  const contents = member.journal.heads.at(path).map(({ content }) => content);
  return texts.filter((text) => contents.includes(contentOfText(text).id));
};

beforeEach(() => {
  member = new LoneMember();
});

test('[LC13] an entry put at an empty path is recorded, whether others delete it later or have deleted it', async () => {
  const put = member.operation('file', { kind: 'put', text: 'theirs' }, { origin: bee });
  const late = member.operation('late', { kind: 'put', text: 'theirs' }, { origin: bee });
  const gone = member.operation('late', { kind: 'delete' }, { origin: bee, parents: [late] });
  member.received(put, late, gone);
  puts(put, 'theirs');
  puts(late, 'theirs');
  for (const path of ['file', 'late']) {
    begins(path);
    await beginsAgain();
  }
  const row = ({ origin, seq }: Operation): object => ({ dot: { origin, seq } });
  expect([member.journal.disk.at('file'), member.journal.disk.at('late')]).toMatchObject([row(put), row(late)]);
  await startAgent();
  expect(newest('late')).toEqual(gone);
});

test("[LC13] an entry that a failed step put in place is recorded, and a user's entry is not", async () => {
  const put = member.operation('file', { kind: 'put', text: 'theirs' }, { origin: bee });
  const gone = member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] });
  const other = member.operation('edited', { kind: 'put', text: 'theirs' }, { origin: bee });
  member.received(put, gone, other);
  puts(put, 'theirs');
  replaces('edited', 'mine');
  const write = (path: string): PlanStep =>
    stepAt(path, { do: 'symlink', path, expected: 'absent', target: '', mtimeUs: 0 });
  const recorded = new FailedSteps(member.context).record([write('file'), write('edited')]);
  await member.passes(1_000);
  await recorded;
  expect(member.journal.disk.at('file')).toMatchObject({ dot: { origin: put.origin, seq: put.seq }, unsynced: true });
  expect(member.journal.disk.at('edited')).toBeUndefined();
});

test('[LC13] a removal is recorded before the file is put back', async () => {
  const put = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee });
  const gone = member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(put);
  const fingerprint = { ino: 7, size: 4, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  const { origin, seq, content } = put;
  member.journal.disk.record([{ path: 'file', entry: { dot: { origin, seq }, content, fingerprint } }]);
  member.received(gone);
  begins('file', { do: 'unlink', path: 'file', expected: fingerprint });
  await beginsAgain();
  expect(member.journal.disk.at('file')).toMatchObject({ dot: { origin: bee, seq: gone.seq } });
  const back = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  await startAgent();
  expect(newest('file')).toEqual(back);
});

test.each([
  ['a file', 'renamed'],
  ['a directory', 'renamed-directory'],
])('[LC13] the old name of %s that was renamed is recorded as gone before it is used again', async (_what, kind) => {
  const isFile = kind === 'renamed';
  const file = isFile ? 'old' : 'old/file';
  const put = member.operation(file, { kind: 'put', text: 'text' }, { origin: bee });
  const gone = member.operation(file, { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(put);
  const fingerprint = { ino: 7, size: 4, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  const { origin, seq, content } = put;
  member.journal.disk.record([{ path: file, entry: { dot: { origin, seq }, content, fingerprint } }]);
  member.received(gone);
  const rename = { from: 'old', to: 'new', expectedFrom: fingerprint };
  begins(
    'new',
    isFile
      ? { do: 'rename', ...rename, expected: 'absent' }
      : { do: 'rename-directory', ...rename, names: ['file'], mode: 0o755 },
  );
  await beginsAgain();
  expect(member.journal.disk.at(file)).toMatchObject({ dot: { origin: bee, seq: gone.seq } });
  const back = member.operation(file, { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  await startAgent();
  expect(newest(file)).toEqual(back);
});

describe('[LC13] a file is put at a path that had its content before, and has another version by now', () => {
  /** The former version of `file`. Its path is free, and `old` has the same content. */
  let former: Operation;

  beforeEach(async () => {
    const { disk } = member.volume;
    disk.write('old', contentOfText('former'));
    disk.utimes('old', 1_000);
    await startAgent();
    changes.stop();
    former = member.operation('file', { kind: 'put', text: 'former' }, { origin: bee });
    member.received(
      former,
      member.operation('file', { kind: 'put', text: 'later' }, { origin: bee, parents: [former] }),
    );
  });

  const write: Action = { do: 'symlink', path: 'file', expected: 'absent', target: '', mtimeUs: 0 };

  // The simulator's seed 59898: the file was taken for the former version, and replaced by the later one.
  test.each([
    {
      how: 'the agent was killed',
      examine: async (): Promise<void> => {
        begins('file', write);
        await beginsAgain();
      },
    },
    {
      how: 'a step failed',
      examine: async (): Promise<void> => {
        const failed = new FailedSteps(member.context);
        const recorded = failed.record([stepAt('file', write)]);
        await member.passes(1_000);
        await recorded;
        expect(failed.isUnseen('file')).toBe(false);
      },
    },
  ])("it is the user's if they moved it there after $how", async ({ examine }) => {
    member.volume.disk.rename('old', 'file');
    await examine();
    expect(member.journal.disk.at('file')).toBeUndefined();
    await startAgent();
    expect(newest('file')).toMatchObject({ origin: member.journal.origin, from: 'old' });
    expect(headTexts('file', 'former', 'later')).toEqual(['former', 'later']);
  });

  test('it is the former version if the agent itself moved it there', async () => {
    const { fingerprint } = member.journal.disk.at('old') ?? {};
    if (fingerprint === undefined) throw new Error('The row of the file is missing.');
    member.volume.disk.rename('old', 'file');
    begins('file', { do: 'rename', from: 'old', to: 'file', expectedFrom: fingerprint, expected: 'absent' });
    await beginsAgain();
    expect(member.journal.disk.at('file')).toMatchObject({ dot: { origin: bee, seq: former.seq } });
  });
});

describe('[LC35] a change by a user over an entry that the agent may have put there', () => {
  /** The operation that the disk showed, and the concurrent one of another member. */
  let shown: Operation;
  let theirs: Operation;

  beforeEach(async () => {
    member.volume.disk.write('file', contentOfText('shown'));
    await startAgent();
    changes.stop();
    [shown] = member.journal.heads.at('file') as [Operation];
    theirs = { ...member.operation('file', { kind: 'put', text: 'theirs' }, { origin: bee }), hlc: shown.hlc + 1 };
    member.received(theirs);
  });

  test('an edit supersedes neither', async () => {
    member.keeps('shown');
    puts(theirs, 'theirs');
    replaces('file', 'edited');
    begins('file');
    await beginsAgain();
    await startAgent();
    expect(headTexts('file', 'shown', 'theirs', 'edited')).toEqual(['shown', 'theirs', 'edited']);
  });

  test('a delete is undone: it may have been of either', async () => {
    member.keeps('shown');
    puts(theirs, 'theirs');
    member.volume.disk.unlink('file');
    begins('file');
    await beginsAgain();
    await startAgent();
    expect(newest('file')).toEqual(theirs);
    expect(member.journal.heads.pending({ which: 'live', limit: 9 }).map(({ path }) => path)).toEqual(['file']);
  });

  test('the file made room for a directory, which others have deleted: it is put there again', async () => {
    const directory = member.operation('file', { kind: 'mkdir' }, { origin: bee });
    member.received(directory);
    member.keeps('shown');
    member.volume.disk.unlink('file');
    begins('file');
    await beginsAgain();
    const gone = { kind: 'delete' } as const;
    member.received(member.operation('file', gone, { origin: bee, parents: [theirs, directory] }));
    await startAgent();
    expect(headTexts('file', 'shown')).toEqual(['shown']);
    expect(member.journal.heads.pending({ which: 'live', limit: 9 }).map(({ path }) => path)).toEqual(['file']);
  });

  test.each([
    ['in place, of the file that was shown', true],
    ['while that was not kept, so that the agent put no entry there', false],
  ])('an edit %s, supersedes the operation that was shown', async (_, isKept) => {
    if (isKept) {
      member.keeps('shown');
      member.volume.disk.write('file', contentOfText('edited'));
    } else replaces('file', 'edited');
    begins('file');
    await beginsAgain();
    await startAgent();
    expect(headTexts('file', 'shown', 'theirs', 'edited')).toEqual(['theirs', 'edited']);
  });

  test('an edit after a batch that was recorded supersedes the operation that was shown', async () => {
    begins('file');
    await recordBatch(member.context, []);
    member.keeps('shown');
    replaces('file', 'edited');
    await beginsAgain();
    await startAgent();
    expect(headTexts('file', 'shown', 'theirs', 'edited')).toEqual(['theirs', 'edited']);
  });
});

test('[OD3] a file that was out of date, and removed just before a kill, is not deleted by its user', async () => {
  member = new LoneMember(undefined, { onDemand: true });
  member.volume.disk.write('file', contentOfText('old'));
  await startAgent();
  const shown = newest('file') as Operation;
  const put = member.operation('file', { kind: 'put', text: 'theirs' }, { origin: bee, parents: [shown] });
  member.received(put);
  const fingerprint = member.journal.disk.at('file')?.fingerprint as Fingerprint;
  begins('file', { do: 'unlink', path: 'file', expected: fingerprint });
  member.volume.keep(contentOfText('old'));
  member.volume.disk.unlink('file');
  await beginsAgain();
  changes.mark('file');
  await member.passes(3_000);
  expect(newest('file')).toEqual(put);
  expect(member.journal.disk.at('file')).toBeUndefined();
});

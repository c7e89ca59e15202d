import type { Operation, OriginId } from '@lockstep/shared';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../core/plan/action.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { LocalChanges } from '../local/local-changes.ts';
import { noteBatch, recordBatch, recordInterruptedBatch } from './interrupted-batch.ts';

const bee = 'bee' as OriginId;

let member: LoneMember;
let changes: LocalChanges;

/** The agent begins to watch the folder, and has compared all of it with the journal. */
async function startAgent(): Promise<void> {
  changes = new LocalChanges(member.context, member.operationWriter, 600_000);
  const started = changes.start();
  await member.passes(3_000);
  await started;
}

/** A batch begins that is to put something at `path`, or to do `action` there. */
function begins(
  path: string,
  action: Action = { do: 'symlink', path, expected: 'absent', target: '', mtimeUs: 0 },
): void {
  noteBatch(member.journal, [{ path, request: { action }, record: () => [] }]);
}

/** The agent begins again. */
async function beginsAgain(): Promise<void> {
  const recorded = recordInterruptedBatch(member.context);
  await member.passes(1_000);
  await recorded;
}

/** What the agent does: it puts what the operation says at its path. */
function puts({ path, mode = 0o644, mtimeUs = 0 }: Operation, text: string): void {
  const { disk } = member.volume;
  disk.write('/elsewhere/new', contentOfText(text), mode);
  disk.utimes('/elsewhere/new', mtimeUs / 1_000);
  disk.rename('/elsewhere/new', path);
}

/** A user replaces what is at the path, as editors do. */
function replaces(path: string, text: string): void {
  member.volume.disk.write(`${path}.tmp`, contentOfText(text));
  member.volume.disk.rename(`${path}.tmp`, path);
}

const newest = (path: string): Operation | undefined =>
  member.journal.log({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: 1 })[0]?.operation;
const headTexts = (path: string, ...texts: readonly string[]): readonly (string | undefined)[] => {
  const contents = member.journal.heads(path).map(({ content }) => content);
  return texts.filter((text) => contents.includes(contentOfText(text).id));
};

beforeEach(() => {
  member = new LoneMember();
});

test('[LC13] what was put where nothing was shown is recorded before others delete it, or after', async () => {
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
  expect([member.journal.disk('file'), member.journal.disk('late')]).toMatchObject([row(put), row(late)]);
  await startAgent();
  expect(newest('late')).toEqual(gone);
});

test('[LC13] what was taken away is recorded before somebody puts it back', async () => {
  const put = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee });
  const gone = member.operation('file', { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(put);
  const fingerprint = { ino: 7, size: 4, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  const { origin, seq, content } = put;
  member.journal.recordDisk([{ path: 'file', entry: { dot: { origin, seq }, content, fingerprint } }]);
  member.received(gone);
  begins('file', { do: 'unlink', path: 'file', expected: fingerprint });
  await beginsAgain();
  expect(member.journal.disk('file')).toMatchObject({ dot: { origin: bee, seq: gone.seq } });
  const back = member.operation('file', { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  await startAgent();
  expect(newest('file')).toEqual(back);
});

test.each([
  ['a file', 'renamed'],
  ['a directory', 'renamed-directory'],
])('[LC13] the former name of %s that was renamed is recorded before somebody gives it back', async (_what, kind) => {
  const isFile = kind === 'renamed';
  const file = isFile ? 'old' : 'old/file';
  const put = member.operation(file, { kind: 'put', text: 'text' }, { origin: bee });
  const gone = member.operation(file, { kind: 'delete' }, { origin: bee, parents: [put] });
  member.received(put);
  const fingerprint = { ino: 7, size: 4, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  const { origin, seq, content } = put;
  member.journal.recordDisk([{ path: file, entry: { dot: { origin, seq }, content, fingerprint } }]);
  member.received(gone);
  const rename = { from: 'old', to: 'new', expectedFrom: fingerprint };
  begins(
    'new',
    isFile
      ? { do: 'rename', ...rename, expected: 'absent' }
      : { do: 'rename-directory', ...rename, names: ['file'], mode: 0o755 },
  );
  await beginsAgain();
  expect(member.journal.disk(file)).toMatchObject({ dot: { origin: bee, seq: gone.seq } });
  const back = member.operation(file, { kind: 'put', text: 'text' }, { origin: bee, parents: [gone] });
  member.received(back);
  await startAgent();
  expect(newest(file)).toEqual(back);
});

describe('[LC35] what its user did over what may have been put there', () => {
  /** What the disk showed, and what others wrote without knowing of it. */
  let shown: Operation;
  let theirs: Operation;

  beforeEach(async () => {
    member.volume.disk.write('file', contentOfText('shown'));
    await startAgent();
    changes.stop();
    [shown] = member.journal.heads('file') as [Operation];
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

  test('a delete is undone, for it may have been of either', async () => {
    member.keeps('shown');
    puts(theirs, 'theirs');
    member.volume.disk.unlink('file');
    begins('file');
    await beginsAgain();
    await startAgent();
    expect(newest('file')).toEqual(theirs);
    expect(member.journal.pending({ which: 'live', limit: 9 }).map(({ path }) => path)).toEqual(['file']);
  });

  test.each([
    ['in place, of the file that was shown', true],
    ['where that was not kept, so that nothing was put there', false],
  ])('an edit %s, supersedes what was shown', async (_, isKept) => {
    if (isKept) {
      member.keeps('shown');
      member.volume.disk.write('file', contentOfText('edited'));
    } else replaces('file', 'edited');
    begins('file');
    await beginsAgain();
    await startAgent();
    expect(headTexts('file', 'shown', 'theirs', 'edited')).toEqual(['theirs', 'edited']);
  });

  test('an edit after a batch that was recorded supersedes what was shown', async () => {
    begins('file');
    recordBatch(member.journal, []);
    member.keeps('shown');
    replaces('file', 'edited');
    await beginsAgain();
    await startAgent();
    expect(headTexts('file', 'shown', 'theirs', 'edited')).toEqual(['theirs', 'edited']);
  });
});

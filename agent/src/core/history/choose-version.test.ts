import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { chooseVersion, type PathVersions, type VersionChoice } from './choose-version.ts';

const origin = `${'a'.repeat(52)}.bbbbbbbb` as OriginId;

/** An operation at `file` that was made in second `second`. Without content it is a delete. */
function made(seq: number, second: number, content?: string): Operation {
  const stamp = { origin, seq, hlc: second * 1_000 * 1_024, path: 'file', version: { vector: {} } };
  if (content === undefined) return { ...stamp, kind: 'delete' };
  return { ...stamp, kind: 'put', content: `b3:${content}` as NonNullable<Operation['content']> };
}

function choose(versions: readonly Operation[], choice: VersionChoice): Operation | string {
  const known: PathVersions = { path: 'file', versions, current: versions[0], labelOf: ({ seq }) => `ant:${seq}` };
  const chosen = chooseVersion(known, choice);
  return 'reason' in chosen ? chosen.reason : chosen.operation;
}

const written = [made(4, 40, 'c'), made(3, 30, 'b'), made(2, 20, 'b'), made(1, 10, 'a')];
const deleted = [made(5, 50), ...written];

test('[OV5] without a choice it is the newest version with another content than the current one', () => {
  expect(choose(written, { kind: 'previous' })).toMatchObject({ seq: 3 });
  expect(choose(written.slice(1), { kind: 'previous' })).toMatchObject({ seq: 1 });
  expect(choose(deleted, { kind: 'previous' })).toMatchObject({ seq: 4 });
  expect(choose(written.slice(3), { kind: 'previous' })).toMatch(/only one version/);
});

test('[OV5] by time it is the newest version that is not later', () => {
  expect(choose(written, { kind: 'at', atMs: 29_999 })).toMatchObject({ seq: 2 });
  expect(choose(written, { kind: 'at', atMs: 30_000 })).toMatchObject({ seq: 3 });
  expect(choose(deleted, { kind: 'at', atMs: 60_000 })).toMatch(/did not exist at 1970-01-01T00:01:00.000Z/);
  expect(choose(written, { kind: 'at', atMs: 9_999 })).toMatch(
    /not known at .*oldest version here is of 1970-01-01T00:00:10/,
  );
});

test('[OV5] by name it is that version; a name that several have is refused with their full names', () => {
  expect(choose(written, { kind: 'named', version: 'ant:2' })).toMatchObject({ seq: 2 });
  expect(choose(written, { kind: 'named', version: `${origin}:1` })).toMatchObject({ seq: 1 });
  expect(choose(written, { kind: 'named', version: 'ant:9' })).toMatch(/no version ant:9/);
  expect(choose(deleted, { kind: 'named', version: 'ant:5' })).toMatch(/deleted file/);
  const other = `${'a'.repeat(52)}.cccccccc` as OriginId;
  const both = [...written, { ...made(2, 5, 'd'), origin: other }];
  expect(choose(both, { kind: 'named', version: 'ant:2' })).toContain(`${origin}:2 and ${other}:2`);
  expect(choose(both, { kind: 'named', version: `${other}:2` })).toMatchObject({ origin: other });
});

test('[OV5] a path without versions is said to have none', () => {
  expect(choose([], { kind: 'previous' })).toMatch(/No version of file is known/);
});

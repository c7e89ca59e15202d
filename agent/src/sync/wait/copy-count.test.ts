import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { remoteEntry } from '../../core/entry.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { CopyCount } from './copy-count.ts';

/** More than are asked about at a time. */
const fileCount = 300;

/** A member on demand whose disk shows files, and a count of them next to one member with the whole folder. */
function counting(): { readonly ant: LoneMember; readonly files: readonly Operation[]; readonly count: CopyCount } {
  const ant = new LoneMember(undefined, { onDemand: true });
  const files = Array.from({ length: fileCount }, (_, index) => {
    return ant.operation(`f${String(index).padStart(3, '0')}`, { kind: 'put', text: `${index}` });
  });
  ant.received(...files);
  const fingerprint = { ino: 1, size: 1, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
  ant.journal.disk.record(
    files.map(({ path, origin, seq, content }) => ({ path, entry: { dot: { origin, seq }, content, fingerprint } })),
  );
  const others = { peers: { isOnDemand: () => false }, search: { searchKeepers: async () => new Map() } };
  const count = new CopyCount({ context: ant.context, ...others }, '', { full: 1, wantedOf: () => 2 });
  return { ant, files, count };
}

test('[OD8] a file that is dropped after it was counted counts again', async () => {
  const { ant, files, count } = counting();
  expect(await count.ask()).toEqual([]);
  expect(count.isDone).toBe(false);
  const [first] = files as [Operation];
  ant.journal.disk.record([remoteEntry(first.path, first)]);
  expect(await count.ask()).toEqual([]);
  expect(count.isDone).toBe(false);
  expect(await count.ask()).toEqual([{ path: first.path, reason: expect.stringContaining('It is on 1 member,') }]);
  expect(count.isDone).toBe(false);
});

test('[OD8] a file that is being dropped is not counted', async () => {
  const { ant, files, count } = counting();
  const [first] = files as [Operation];
  ant.context.wanted.dropping.add(first.path);
  expect(await count.ask()).toMatchObject([{ path: first.path }]);
  ant.context.wanted.dropping.delete(first.path);
  while (!count.isDone) expect(await count.ask()).toEqual([]);
});

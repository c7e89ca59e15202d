import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDiskSubject } from '../disk-subject.contract.ts';
import { syncTogetherMin } from '../durable.ts';
import { bytesOf } from '../folder-subject.contract.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { type Places, temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import type { SystemCalls } from '../system-calls.ts';
import { historyPath } from './history.ts';
import { type KeepRequest, keep } from './keep.ts';

/** The places of a folder whose disk answers as `around` says, and requests for contents that are in memory. */
async function open(count: number, around: (system: SystemCalls) => Partial<SystemCalls>) {
  const subject = await openDiskSubject();
  onTestFinished(() => subject.close());
  const { root } = subject;
  const system = nodeSystemCalls();
  const { places } = openPlaces({
    root,
    realRoot: () => root,
    state: join(root, '.lockstep'),
    system,
    hash: blockHash,
    memberName: 'ant',
    temporaryName: temporaryNames('t'),
  });
  const top = system.openDirectory(root);
  onTestFinished(() => top.close());
  const requests = Array.from({ length: count }, (_, index): KeepRequest => {
    const bytes = bytesOf(`text ${index}`);
    return { content: subject.identify(bytes).content, size: bytes.length, source: { from: 'bytes', bytes } };
  });
  const opened: Places = { ...places, system: { ...system, ...around(system) }, top };
  return { places: opened, requests };
}

const isKept = (places: Places, { content }: KeepRequest): boolean =>
  statSync(historyPath(places, content), { throwIfNoEntry: false })?.nlink === 1;

test('[MT5] many contents are kept with two syncs of the disk: one of their bytes, one of their names', async () => {
  const synced: string[] = [];
  const { places, requests } = await open(4 * syncTogetherMin, () => ({
    canSyncFileSystem: true,
    fsync: () => synced.push('file'),
    syncFileSystem: () => synced.push('disk') > 0,
  }));
  const outcomes = keep(places, requests);
  expect(outcomes.every((outcome) => typeof outcome === 'object')).toBe(true);
  expect(requests.every((request) => isKept(places, request))).toBe(true);
  expect(synced).toEqual(['disk', 'disk']);
  expect(keep(places, requests).every((outcome) => outcome === true)).toBe(true);
  expect(synced).toHaveLength(2);
});

test('[MT5] a content that cannot be kept is no obstacle for the others', async () => {
  const { places, requests } = await open(3, ({ rename }) => ({
    rename: (from, to) => {
      if (to === refused) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      rename(from, to);
    },
  }));
  const [first, second, third] = requests;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three requests are needed');
  const refused = historyPath(places, second.content);
  const missing: KeepRequest = { ...third, source: { from: 'staged' } };
  expect(keep(places, [first, second, missing])).toEqual([expect.anything(), false, false]);
  expect([first, second, third].map((request) => isKept(places, request))).toEqual([true, false, false]);
});

test('[MT5] a content does not count as kept while its bytes may not be on the disk', async () => {
  const { places, requests } = await open(2, () => ({
    canSyncFileSystem: false,
    fsync: () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    },
  }));
  expect(keep(places, requests)).toEqual([false, false]);
  expect(requests.some((request) => isKept(places, request))).toBe(false);
});

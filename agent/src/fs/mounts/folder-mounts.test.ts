import { expect, test } from 'vitest';
import type { Places } from '../places.ts';
import type { JobRunner } from '../worker/worker-job.ts';
import { FolderMounts } from './folder-mounts.ts';

test('[WT20] a mount that the kernel does not list, as a btrfs subvolume, is checked until it is accepted or gone', async () => {
  const asked: (readonly string[])[] = [];
  const there = new Set(['subvolume']);
  const workers = {
    mounts: { accepted: [], foreign: [] },
    run: (_job: string, suspects: readonly string[]) => {
      asked.push(suspects);
      return Promise.resolve(
        suspects.filter((path) => there.has(path)).map((path) => ({ path, isNew: true, detail: '' })),
      );
    },
  };
  const mounts = new FolderMounts(workers as unknown as JobRunner, {} as Places);
  mounts.suspect('subvolume');
  await mounts.check();
  expect(await mounts.check()).toMatchObject([{ path: 'subvolume' }]);
  there.clear();
  expect(await mounts.check()).toEqual([]);
  await mounts.check();
  expect(asked).toEqual([['subvolume'], ['subvolume'], ['subvolume'], []]);
});

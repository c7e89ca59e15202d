import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDiskSubject } from './disk-subject.contract.ts';
import { folderContract } from './folder.contract.ts';

folderContract(() => openDiskSubject());

/** A minute and more of reading, in a file that takes no room. */
const sparseBytes = 2 ** 37;

test('[CL29] closing the folder gives up the read of a large file', async () => {
  const subject = await openDiskSubject();
  const file = join(subject.root, 'sparse');
  await writeFile(file, '');
  await truncate(file, sparseBytes);
  const observed = subject.folder.observe([{ path: 'sparse', hashLarge: true }]);
  await subject.close();
  expect(await observed).toEqual([{ path: 'sparse', state: 'changing' }]);
});

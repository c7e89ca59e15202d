import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../testkit/cluster.ts';
import type { Member } from '../testkit/member.ts';
import { expect } from './test.ts';

/** Makes conflicts: ant and bee write these files without a connection. The later version is bee's. */
export async function makeConflicts(
  cluster: Cluster,
  files: Readonly<Record<string, (by: string) => string | Buffer>>,
): Promise<void> {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await bee.stop();
  for (const [name, content] of Object.entries(files)) await ant.put(name, content('ant'));
  await expect.poll(async () => (await ant.status()).files).toBeGreaterThanOrEqual(Object.keys(files).length);
  for (const [name, content] of Object.entries(files)) await writeFile(join(bee.folder, name), content('bee'));
  await bee.start();
  for (const member of cluster.members) {
    await expect
      .poll(async () => (await member.status()).conflictCopies)
      .toBe(Object.keys(files).length)
      .catch(async (error: unknown) => {
        throw new Error([String(error), await told(ant), await told(bee)].join('\n'));
      });
  }
}

/** A member's folder, operations and events, for the message of a failure: why there are too many or too few copies. */
async function told(member: Member): Promise<string> {
  const asked = ['ops?limit=100', 'events?after=0&limit=500'].map(async (what) => {
    const response = await member.fetch(`api/v1/${what}`);
    return await response.text();
  });
  return [member.name, ...(await readdir(member.folder)), ...(await Promise.all(asked))].join('\n');
}

import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@playwright/test';
import type { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';

const minutes = (decision: string) => `# Minutes of Thursday

Present: Ada, Björn, Chen, Dilara

1. The plan for the quay was gone through.
2. ${decision}
3. The survey of the bridge is due on Friday.

Next meeting: in two weeks.
`;

async function write(member: Member, path: string, content: string | Buffer): Promise<void> {
  const place = join(member.folder, path);
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, content);
}

/** Resolves when all of these members hold everything. */
export async function settled(cluster: Cluster, members: readonly Member[] = cluster.members): Promise<void> {
  for (const member of members) {
    await expect.poll(async () => (await member.status()).synchronised, { timeout: 60_000 }).toBe(true);
  }
}

/** Fills the folder as the people of a small office would, each on their own machine. */
export async function fillOffice(cluster: Cluster): Promise<void> {
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster.member(name)) as [Member, Member, Member];
  await write(ant, 'Minutes/2026-11-19.md', minutes('It begins in March.'));
  await write(ant, 'Bridge/survey.csv', 'station,height\n'.repeat(900));
  for (const name of ['north elevation', 'quay', 'section A', 'section B', 'site plan']) {
    await write(ant, `Bridge/Drawings/${name}.dwg`, randomBytes(180_000 + 9_000 * name.length));
  }
  await write(bee, 'Letters/to the harbour office.md', 'Dear Ms Lindqvist,\n\nthank you for the plans.\n');
  await write(bee, 'Budget 2027.ods', randomBytes(48_213));
  await write(
    cat,
    'Logo.svg',
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M1 7 4 1l3 6z"/></svg>',
  );
  await settled(cluster);
  for (let picture = 1; picture <= 60; picture++) {
    await write(cat, `Import/IMG_${4_200 + picture}.jpg`, randomBytes(40_000 + 731 * picture));
  }
  await settled(cluster);
  await rename(join(cat.folder, 'Import'), join(cat.folder, 'Photos of the quay'));
  await settled(cluster);
  await write(bee, 'Letters/to the harbour office.md', 'Dear Ms Lindqvist,\n\nthank you for the plans of the quay.\n');
  await settled(cluster);
}

/** Makes conflicts: two people edit the same files while their machines have no connection. */
export async function disagree(cluster: Cluster): Promise<void> {
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  await bee.stop();
  await write(ant, 'Minutes/2026-11-19.md', minutes('It begins in April, after the storms.'));
  await write(ant, 'Budget 2027.ods', randomBytes(48_990));
  await expect.poll(async () => (await ant.status()).members.some(({ behind }) => behind >= 2)).toBe(true);
  await write(bee, 'Minutes/2026-11-19.md', minutes('It begins in May; the crane is not free before.'));
  await write(bee, 'Budget 2027.ods', randomBytes(51_102));
  await bee.start();
  for (const member of cluster.members) {
    await expect.poll(async () => (await member.status()).conflictCopies, { timeout: 60_000 }).toBe(2);
  }
  await settled(cluster);
}

import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { Cluster } from '../../../testkit/cluster.ts';
import { eventually } from '../../../testkit/eventually.ts';
import type { Member } from '../../../testkit/member.ts';

/** Adds a member that fetches contents on demand, and only those that are read. */
export function addOnDemand(cluster: Cluster, name: string, cache = '100 MiB'): Promise<Member> {
  const env = { LOCKSTEP_CONTENT: 'on-demand', LOCKSTEP_CACHE_SIZE: cache, LOCKSTEP_PREFETCH: 'false' };
  return cluster.add(name, { start: { env } });
}

/** The names in the folder of a member, or in a directory of it. */
export const namesIn = (member: Member, directory = '.'): readonly string[] =>
  readdirSync(member.path(directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.lockstep'))
    .sort();

/** The text of a file, by its URL. */
export async function read(member: Member, path: string): Promise<string> {
  const answer = await member.fetch(`api/v1/files/${path}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Puts a text at a path, by its URL. */
export const put = (member: Member, path: string, body: string, headers: Record<string, string> = {}) =>
  member.fetch(`api/v1/files/${path}`, { method: 'PUT', body, headers });

/** Waits until a member knows and shows all that is in the folder of another one. */
export async function level(member: Member, other: Member): Promise<void> {
  await other.rescan();
  await eventually(async () => {
    const [mine, theirs] = [await member.status(), await other.status()];
    expect(mine.digest).toBe(theirs.digest);
    expect(mine.pending).toBe(0);
  });
}

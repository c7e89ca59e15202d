import { chmod } from 'node:fs/promises';
import type { Cluster } from '../cluster.ts';
import type { Member } from '../member.ts';
import { run } from '../programs.ts';

/** Only root can make a folder that is closed to the agent, and start the agent as somebody else. */
export const isRoot = process.getuid?.() === 0;

const nobody = 65_534;

/** Root may do everything: what is refused is seen as somebody else. */
export const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];

/** Makes all of `paths` the property of the unprivileged user, with what is in them. */
export async function giveToNobody(...paths: readonly string[]): Promise<void> {
  await run('chown', ['-R', `${nobody}:${nobody}`, ...paths]);
}

/** A new member whose agent may do only what any user may. Resolves when it has a session with each of the others. */
export async function addUnprivileged(cluster: Cluster, name: string): Promise<Member> {
  await chmod(cluster.root, 0o755);
  const member = await cluster.add(name, { up: false, start: { wrapper: asNobody } });
  await giveToNobody(member.folder);
  await member.start();
  await cluster.connected();
  return member;
}

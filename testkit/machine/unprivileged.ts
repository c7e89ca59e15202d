import { chmod } from 'node:fs/promises';
import type { Cluster } from '../cluster.ts';
import { eventually } from '../eventually.ts';
import type { Member } from '../member.ts';
import { run } from '../programs.ts';

/** Only root can make a folder that is closed to the agent, and start the agent as another user. */
export const isRoot = process.getuid?.() === 0;

const nobody = 65_534;

/** The wrapper command that runs a program as the user nobody: root is never refused anything. */
export const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];

/** Makes the user nobody the owner of `paths` and of everything in them. */
export async function giveToNobody(...paths: readonly string[]): Promise<void> {
  // A running agent may remove a file while its name is being listed.
  await eventually(() => run('chown', ['-R', `${nobody}:${nobody}`, ...paths]));
}

/** Adds a member whose agent runs as the user nobody. Resolves when it has a session with each of the others. */
export async function addUnprivileged(cluster: Cluster, name: string): Promise<Member> {
  await chmod(cluster.root, 0o755);
  const member = await cluster.add(name, { up: false, start: { wrapper: asNobody } });
  await giveToNobody(member.folder);
  await member.start();
  await cluster.connected();
  return member;
}

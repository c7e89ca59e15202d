import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { configPath } from '../../config/load-config.ts';
import { writeDurably } from '../../member-dir/durable-file.ts';
import { type ExclusiveLock, tryExclusiveLock } from '../../member-dir/exclusive-lock.ts';
import { isMemberFolder } from '../../member-dir/folder-nesting.ts';
import { describeRunning, findRunning } from '../../member-dir/instance-lock.ts';
import { clusterKeyPath, initStateDirectory } from '../../member-dir/state-directory.ts';
import { parseAddress } from '../../net/address.ts';
import type { LabMember } from './lab-plan.ts';

/** The file that is locked while a lab runs in its place. */
export const labLockName = 'lab.lock';

/** Locks the place, so that only one lab runs there. Rejects with 'already-running'. */
export async function lockLab(lab: string): Promise<ExclusiveLock> {
  await mkdir(lab, { recursive: true });
  const lock = tryExclusiveLock(join(lab, labLockName), 0);
  if (lock !== undefined) return lock;
  throw new LockstepError(
    'already-running',
    `A lab is already running in ${lab}. Use that one, or stop it with Ctrl-C in its terminal.`,
  );
}

/** Rejects with 'already-running' if a member of a killed lab still runs. */
export async function refuseLeftovers(lab: string): Promise<void> {
  for (const entry of await readdir(lab, { withFileTypes: true })) {
    const directory = join(lab, entry.name);
    if (!entry.isDirectory() || !(await isMemberFolder(directory))) continue;
    const running = await findRunning(directory);
    if (running === undefined) continue;
    const { who, stop } = describeRunning(running);
    throw new LockstepError(
      'already-running',
      `Member ${entry.name} of an earlier lab still runs (${who}). Stop it first: ${stop}`,
    );
  }
}

/** Removes all files of the lab; the caller holds the lab's lock. */
export async function clearLab(lab: string): Promise<void> {
  for (const name of await readdir(lab)) {
    if (name !== labLockName) await rm(join(lab, name), { recursive: true, force: true });
  }
}

/** Rejects with 'port-in-use' if it is impossible to listen on `address` (`host:port`). */
export async function checkPort(address: string, use: string): Promise<void> {
  const { host, port } = parseAddress(address);
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new LockstepError(
      'port-in-use',
      `Port ${port}, which ${use} needs, cannot be used (${code}). Another program has it (ss -ltnp 'sport = :${port}' ` +
        'shows which): stop that one, or give the lab other ports: npm start -- --port-base 5700',
      { cause },
    );
  }
  server.close();
  await once(server, 'close');
}

/** Writes the lab's addresses into a member's settings, which may be from a start with other ports; the rest stays. */
async function updateSettings(member: LabMember): Promise<void> {
  const path = configPath(member.directory);
  const text = await readFile(path, 'utf8');
  const updated = text
    .replace(/^listen = .*$/m, () => `listen = ${JSON.stringify(member.listen)}`)
    .replace(/^dashboard = .*$/m, () => `dashboard = ${JSON.stringify(member.dashboard)}`)
    .replace(/^peers = .*$/m, () => `peers = [${member.peers.map((peer) => JSON.stringify(peer)).join(', ')}]`);
  if (updated !== text) await writeDurably(path, updated);
}

/**
 * Makes each member's folder, all in one cluster, or uses the existing ones. `clusterKeyFile`: the key of existing members that are not in
 * `members`.
 */
export async function prepareMembers(members: readonly LabMember[], clusterKeyFile?: string): Promise<void> {
  let keyFile = clusterKeyFile;
  for (const member of members) {
    if (await isMemberFolder(member.directory)) keyFile ??= clusterKeyPath(member.directory);
  }
  for (const member of members) {
    if (await isMemberFolder(member.directory)) {
      await updateSettings(member);
      continue;
    }
    await mkdir(member.directory, { recursive: true });
    const { name, listen, dashboard, peers } = member;
    await initStateDirectory({
      directory: member.directory,
      clusterKeyFile: keyFile,
      // One person looks after all members of a lab, and tries on one page what can be done to the others.
      settings: { name, listen, dashboard, peers, allow_control: 'settings' },
    });
    keyFile ??= clusterKeyPath(member.directory);
  }
}

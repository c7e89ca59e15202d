import { constants } from 'node:fs';
import { access, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shellWord } from '../../os/shell-word.ts';
import { type CheckResult, resultsOf } from './check-result.ts';
import { fileSystemOf, mountinfoFile } from './file-system.ts';
import { readProc } from './proc.ts';
import type { Subject } from './subject.ts';

const { ok, warn, fail } = resultsOf('permissions');

/** Files that only their owner may read: their content lets anyone act as this member, or as a member. */
const secrets = ['cluster.key', 'identity.key'];

/** File systems on which all files may have the mode that the mount gives them. */
const mayKeepNoModes = /^(vfat|msdos|exfat|ntfs3?|fuse(blk)?(\..*)?)$/;

async function missingRight(path: string, rights: number): Promise<string | undefined> {
  try {
    await access(path, rights);
    return undefined;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code;
  }
}

type Rights = 'r' | 'rw' | 'rwx';

const modes = {
  r: constants.R_OK,
  rw: constants.R_OK | constants.W_OK,
  rwx: constants.R_OK | constants.W_OK | constants.X_OK,
} as const satisfies Record<Rights, number>;

/** Checks that this user has `rights` on the entry at `path`. */
async function checkRights(path: string, rights: Rights = 'rwx'): Promise<readonly CheckResult[]> {
  const code = await missingRight(path, modes[rights]);
  if (code === undefined) return [];
  const owner = (await lstat(path).catch(() => undefined))?.uid;
  const remedy = code === 'EROFS' ? 'Mount the disk for writing.' : remedyFor(path, rights, owner);
  const what = rights === 'r' ? 'read' : 'read and written';
  return [fail(`${path} cannot be ${what} by this user (${code}).`, remedy)];
}

/** The advice for a user who lacks rights on an entry: only its owner can change its mode. */
export function remedyFor(path: string, rights: Rights, owner: number | undefined): string {
  const user = process.getuid?.();
  if (owner === undefined || owner === user) return `Give this user the rights: chmod u+${rights} ${shellWord(path)}`;
  return `Run as its owner, the user ${owner}, or give it to this user, as root: chown -R ${user} ${shellWord(path)}`;
}

/** The entries of the state directory that no other check opens. A file that is written by a rename needs no right to write. */
const entries: readonly (readonly [name: string, rights: Rights])[] = [
  ['addresses.json', 'r'],
  ['running.json', 'r'],
  ['sessions.json', 'r'],
  ['tokens.json', 'r'],
  ['journal.db', 'rw'],
  ['remote-counters', 'rw'],
  ['staging', 'rwx'],
  ['history', 'rwx'],
  ['cookies', 'rwx'],
];

/** Checks that an entry of the state directory, if it exists, is of its kind and open to this user. */
async function checkEntry(path: string, rights: Rights): Promise<readonly CheckResult[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  const kind = rights === 'rwx' ? 'directory' : 'file';
  if (kind === 'directory' ? stats.isDirectory() : stats.isFile()) return checkRights(path, rights);
  const remedy = 'Move it away while no agent runs, and check again with: lockstep doctor';
  return [fail(`${path} is not a ${kind}, and Lockstep needs one there.`, remedy)];
}

/** The result for a file that only its owner may read. `mountinfo`: the text of that file. */
export function judgeSecret(path: string, mode: number, mountinfo: string): readonly CheckResult[] {
  if ((mode & 0o077) === 0) return [];
  const change = `chmod 600 ${shellWord(path)}`;
  const type = fileSystemOf(path, mountinfo)?.type ?? '';
  const remedy = mayKeepNoModes.test(type)
    ? `${change}. If the mode stays as it is, ${type} keeps none: mount the disk with umask=077.`
    : change;
  const shown = (mode & 0o777).toString(8);
  return [fail(`${path} can be read by others than its owner (mode ${shown}).`, remedy)];
}

async function checkSecret(path: string, mountinfo: string): Promise<readonly CheckResult[]> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? [] : judgeSecret(path, stats.mode, mountinfo);
}

/** Checks the owners: a command that was once run as root leaves files that the agent's user cannot write. */
async function checkOwners(state: string): Promise<readonly CheckResult[]> {
  const { uid } = await lstat(state);
  const foreign: string[] = [];
  for (const name of await readdir(state)) {
    const stats = await lstat(join(state, name)).catch(() => undefined);
    if (stats !== undefined && stats.uid !== uid) foreign.push(name);
  }
  if (foreign.length === 0) return [];
  const detail = `In ${state}, ${foreign.join(', ')} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user than the directory.`;
  return [warn(detail, `Give them to its owner: chown -R --reference=${shellWord(state)} ${shellWord(state)}`)];
}

/**
 * Checks the rights of the agent's own user if root runs the command, from owner, group and mode; the user's other groups are not known
 * here.
 */
async function checkForOwner(directory: string, state: string): Promise<readonly CheckResult[]> {
  if (process.getuid?.() !== 0) return [];
  const [folder, own] = await Promise.all([lstat(directory), lstat(state)]);
  if (own.uid === 0) return [];
  const shift = folder.uid === own.uid ? 6 : folder.gid === own.gid ? 3 : 0;
  if (((folder.mode >> shift) & 0o7) === 0o7) return [];
  const detail = `${directory} does not seem to be open to the user ${own.uid}, who owns its .lockstep and must run the agent.`;
  return [warn(detail, `Give it to that user: chown --reference=${shellWord(state)} ${shellWord(directory)}`)];
}

/** The result for a disk to which nothing can be written any more. access(2) does not see that. `mountinfo`: the text of that file. */
export function judgeWriting(directory: string, mountinfo: string): readonly CheckResult[] {
  if (!fileSystemOf(directory, mountinfo)?.options.includes('emergency_ro')) return [];
  const detail = `The disk of ${directory} was made read-only by the system after an error (emergency_ro).`;
  return [fail(detail, 'Read the error in dmesg, unmount the disk, check it with fsck, and mount it again.')];
}

/** Checks that the folder and its state can be written, and that the keys are secret. */
export async function checkPermissions({ directory, state }: Subject): Promise<readonly CheckResult[]> {
  const mountinfo = (await readProc(mountinfoFile)) ?? '';
  const stopped = judgeWriting(directory, mountinfo);
  const rights = [...stopped, ...(await checkRights(directory)), ...(await checkRights(state))];
  const found = [...rights];
  for (const name of secrets) found.push(...(await checkSecret(join(state, name), mountinfo)));
  if (rights.length === 0)
    for (const [name, needed] of entries) found.push(...(await checkEntry(join(state, name), needed)));
  if (rights.length === 0) found.push(...(await checkOwners(state)), ...(await checkForOwner(directory, state)));
  return found.length > 0 ? found : [ok(`${directory} can be written, and only its owner can read the keys.`)];
}

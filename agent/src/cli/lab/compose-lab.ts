import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { clusterKeyPath } from '../../member-dir/state-directory.ts';
import { exitCode } from '../exit-code.ts';
import { formatTable } from '../output/table.ts';
import { processTerminal, type Terminal } from '../output/terminal.ts';
import type { LabMember } from './lab-plan.ts';
import { labLockName, lockLab, prepareMembers } from './lab-prepare.ts';

/** The port of all agents: every member has an address of its own in the lab's network. */
const agentPort = 4700;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Parses `ant=4801`, a member to prepare and the port of its dashboard, or `ant`, a member that another service has prepared. */
function parseMember(text: string): { readonly name: string; readonly port: string | undefined } {
  const [, name, port] = /^([a-z]+)(?:=(\d+))?$/.exec(text) ?? [];
  if (name !== undefined) return { name, port };
  throw new LockstepError(
    'config-invalid',
    `${JSON.stringify(text)} is not a member. Write NAME=PORT, such as ant=4801.`,
  );
}

function parseOwner(text: string | undefined): Owner {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(text ?? '') ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  throw new LockstepError(
    'config-invalid',
    `The members cannot run as user ${JSON.stringify(text ?? '')}. Set PUID and PGID to the numbers that \`id -u\` and \`id -g\` print.`,
  );
}

/** The members to prepare in the folder `lab`. */
interface Plan {
  readonly members: readonly LabMember[];
  /** The key of the cluster that the members join; a new cluster is made without it. */
  readonly keyFile: string | undefined;
}

function planOf(lab: string, args: readonly string[]): Plan {
  const places = args.map(parseMember);
  const members = places.flatMap(({ name, port }) => {
    if (port === undefined) return [];
    // The host names in the lab's network are the members' names.
    const peers = places.filter((place) => place.name !== name).map((place) => `${place.name}:${agentPort}`);
    const listen = `0.0.0.0:${agentPort}`;
    return [{ name, directory: join(lab, name), listen, dashboard: `0.0.0.0:${port}`, peers }];
  });
  const before = places.find(({ port }) => port === undefined);
  return { members, keyFile: before === undefined ? undefined : clusterKeyPath(join(lab, before.name)) };
}

/**
 * Gives `path` and all entries below it to the owner, including links themselves. The members may be running: entries that disappear
 * meanwhile are skipped.
 */
async function giveTo(owner: Owner, path: Buffer): Promise<void> {
  try {
    const stats = await lstat(path);
    // Only entries of another owner: a change of owner makes the agent compare the file with the journal.
    if (stats.uid !== owner.uid || stats.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
    if (!stats.isDirectory()) return;
    for (const name of await readdir(path, { encoding: 'buffer' })) {
      await giveTo(owner, Buffer.concat([path, Buffer.from('/'), name]));
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
}

/** Advice for a person whose user differs from that of the members; undefined if none is needed. */
async function adviceFor(owner: Owner, clone: string): Promise<string | undefined> {
  const { uid, gid } = await lstat(clone);
  if (uid === owner.uid || uid === 0) return undefined;
  return (
    `The members run as user ${owner.uid}, and this clone belongs to user ${uid}. To work in the folders without asking for rights, ` +
    `put PUID=${uid} and PGID=${gid} into a file .env next to docker-compose.yml, and start again.`
  );
}

/**
 * Makes the members' folders in `lab` and gives them and all entries in them to the user that the members run as. It runs as root before
 * they start, and again at every start, for files that another user put there meanwhile.
 */
async function prepare(terminal: Terminal, args: readonly string[]): Promise<void> {
  const { LAB: lab = '/lab', LAB_SHOWN: shown = 'lab', LAB_OWNER: ownerText, LAB_CLONE: clone } = terminal.env;
  const owner = parseOwner(ownerText);
  const { members, keyFile } = planOf(lab, args);
  const lock = await lockLab(lab);
  try {
    await prepareMembers(members, keyFile);
    for (const { directory } of members) await giveTo(owner, Buffer.from(directory));
    // The container engine and this program made these: `npm start` must be able to use the same place later.
    for (const path of [lab, join(lab, labLockName)]) {
      if ((await lstat(path)).uid === 0) await lchown(path, owner.uid, owner.gid);
    }
  } finally {
    lock.release();
  }
  const rows = members.map(({ name, dashboard }) => [
    name,
    join(shown, name),
    `http://${dashboard.replace(/^.*:/, '127.0.0.1:')}/`,
  ]);
  terminal.print(formatTable([{ title: 'MEMBER' }, { title: 'FOLDER' }, { title: 'DASHBOARD' }], rows));
  const advice = clone === undefined ? undefined : await adviceFor(owner, clone);
  if (advice !== undefined) terminal.print(advice);
}

const terminal = processTerminal();
try {
  await prepare(terminal, process.argv.slice(2));
} catch (error) {
  if (!(error instanceof LockstepError)) throw error;
  terminal.note(error.message);
  process.exitCode = exitCode.notDone;
}

import { constants } from 'node:fs';
import { access, lstat, mkdir, readFile, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { LockstepError, type MemberId, stateDirectoryName } from '@lockstep/shared';
import { configTemplate } from '../config/config-template.ts';
import type { ConfigText } from '../config/schema.ts';
import { createClusterKey, formatClusterKey, loadClusterKey } from '../net/keys/cluster-key.ts';
import { createIdentity } from '../net/keys/identity.ts';
import { diskError } from '../os/disk-error.ts';
import { errorCodeOf, isNoRoom } from '../os/system-error.ts';
import { syncDirectory, writeDurably, writeNewDurably } from './durable-file.ts';
import { memberFolderAbove, memberFolderBelow } from './folder-nesting.ts';
import { saveIdentity } from './identity-files.ts';
import { checkInstance, inspectInstance, writeInstance } from './instance-file.ts';

/** The path of the state directory of the member's folder `directory`. */
export function statePath(directory: string): string {
  return join(directory, stateDirectoryName);
}

/** The path of the file with the key of a member's cluster. */
export function clusterKeyPath(directory: string): string {
  return join(statePath(directory), 'cluster.key');
}

/** The path of the file by which a mount knows that a list of remote files still holds. */
export function remoteCountersPath(directory: string): string {
  return join(statePath(directory), 'remote-counters');
}

/** The folder's real path. Rejects with 'folder-not-found' or 'folder-not-writable'. */
async function existingFolder(path: string): Promise<string> {
  let directory: string;
  try {
    directory = await realpath(resolve(path));
    if (!(await stat(directory)).isDirectory()) {
      throw new LockstepError('folder-not-found', `${directory} is not a directory. Name the folder to keep the same.`);
    }
  } catch (cause) {
    if (cause instanceof LockstepError) throw cause;
    const failed = diskError(cause, resolve(path));
    if (failed !== undefined) throw failed;
    const { code } = cause as NodeJS.ErrnoException;
    const hint = code === 'ENOENT' ? 'does not exist.' : `cannot be opened (${code}).`;
    throw new LockstepError('folder-not-found', `${resolve(path)} ${hint}`, { cause });
  }
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw notWritable(directory, cause);
  }
  return directory;
}

function notWritable(path: string, cause: unknown): LockstepError {
  const failed = diskError(cause, path);
  if (failed !== undefined) return failed;
  const code = errorCodeOf(cause);
  const hint = isNoRoom(cause)
    ? 'The disk or a quota is full: free some space.'
    : code === 'EROFS'
      ? 'The disk is mounted read-only: mount it for writing.'
      : 'Run as its owner, or give it to this user (as root: chown -R). If this user owns it: chmod u+rwx.';
  return new LockstepError('folder-not-writable', `${path} cannot be written (${code}). ${hint}`, { cause });
}

function notOpened(path: string, cause: unknown): LockstepError {
  const failed = diskError(cause, path);
  if (failed !== undefined) return failed;
  const hint = 'Run as the owner of the folder, or give this user the right to read it.';
  return new LockstepError('folder-not-writable', `${path} cannot be opened (${errorCodeOf(cause)}). ${hint}`, {
    cause,
  });
}

async function refuseNested(directory: string): Promise<void> {
  const above = await memberFolderAbove(dirname(directory));
  if (above !== undefined && above !== directory) {
    throw new LockstepError(
      'folder-nested',
      `${directory} lies inside ${above}, which is already a member's folder. Choose a folder outside it.`,
    );
  }
}

/**
 * Makes the folder at `path` and the directories above it, as far as they do not exist. Returns what it made, the deepest directory first.
 * Nothing is made inside a member's folder: it would be replicated.
 */
async function makeFolder(path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  let parent = path;
  for (; (await lstat(parent).catch(() => undefined)) === undefined; parent = dirname(parent)) missing.push(parent);
  if (missing.length === 0) return [];
  try {
    await refuseNested(join(await realpath(parent), relative(parent, path)));
    // Node's recursive mkdir never ends where the system answers ENOENT although the parent exists, as in /proc.
    for (const directory of missing.toReversed()) await mkdir(directory).catch(unlessExists);
  } catch (cause) {
    if (cause instanceof LockstepError) throw cause;
    await removeMade(missing);
    const hint = 'Make it, and give this user the right to write it.';
    throw new LockstepError(
      'folder-not-found',
      `${path} does not exist and cannot be made (${errorCodeOf(cause)}). ${hint}`,
      { cause },
    );
  }
  return missing;
}

/** Another process may have made the directory meanwhile. */
function unlessExists(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

/** Removes directories that `makeFolder` made. One that is not empty has been used meanwhile, and stays. */
async function removeMade(directories: readonly string[]): Promise<void> {
  for (const directory of directories) await rmdir(directory).catch(() => undefined);
}

export interface InitOptions {
  /** The folder; it is made if it does not exist. */
  readonly directory: string;
  /** The key of the cluster to join; without it a new cluster is made. */
  readonly clusterKeyFile?: string | undefined;
  /** Values for `config.toml`, by key. */
  readonly settings: Readonly<Record<string, ConfigText | undefined>>;
}

export interface Initialised {
  readonly directory: string;
  readonly id: MemberId;
  readonly newCluster: boolean;
}

/**
 * Makes `.lockstep/`: identity, cluster key, configuration. It appears whole or not at all. Refuses a member's folder, a folder inside
 * another member's folder or around one, and a copied state directory.
 */
export async function initStateDirectory(options: InitOptions): Promise<Initialised> {
  const made = await makeFolder(resolve(options.directory));
  try {
    return await initFolder(options);
  } catch (error) {
    await removeMade(made);
    throw error;
  }
}

async function initFolder(options: InitOptions): Promise<Initialised> {
  const directory = await existingFolder(options.directory);
  const state = statePath(directory);
  if ((await lstat(state).catch(() => undefined)) !== undefined) {
    await inspectInstance(directory);
    throw new LockstepError(
      'already-member',
      `${directory} is already a member's folder (${state}). Start it with \`lockstep up\`.`,
    );
  }
  await refuseNested(directory);
  const below = await memberFolderBelow(directory);
  if (below !== undefined) {
    throw new LockstepError(
      'folder-nested',
      `${directory} contains ${below}, which is already a member's folder. Choose a folder that does not contain it.`,
    );
  }
  const { clusterKeyFile } = options;
  // A user may name a pipe: --cluster-key-file <(ssh ant cat cluster.key)
  const key =
    clusterKeyFile === undefined
      ? createClusterKey()
      : await loadClusterKey(resolve(clusterKeyFile), (path) => readFile(path, 'utf8'));

  const draft = `${state}.new`;
  try {
    // An existing draft was left by an init that was killed; its identity was never used.
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    for (const name of ['staging', 'history']) await mkdir(join(draft, name), { mode: 0o700 });
    const identity = await createIdentity();
    await saveIdentity(draft, identity);
    await writeDurably(join(draft, 'cluster.key'), formatClusterKey(key));
    await writeDurably(join(draft, 'config.toml'), configTemplate(options.settings));
    await writeGitRule(draft);
    await writeInstance(directory, draft);
    await rename(draft, state);
    await syncDirectory(directory);
    return { directory, id: identity.memberId, newCluster: options.clusterKeyFile === undefined };
  } catch (cause) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw (cause as NodeJS.ErrnoException).errno === undefined ? cause : notWritable(directory, cause);
  }
}

/** The rule for git is in the state directory itself, so it holds in every repository in which the folder is. */
function writeGitRule(state: string): Promise<void> {
  return writeNewDurably(join(state, '.gitignore'), '*\n');
}

/**
 * Makes git ignore the state directory if that was made by a version without this rule, or a user removed it. Otherwise `git add -A` commits
 * the keys, and `git clean -fd` and `git stash -u` take identity and journal away. An agent starts without the rule if the disk is full.
 */
export async function hideFromGit(directory: string): Promise<void> {
  await writeGitRule(statePath(directory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
  });
}

/** The member's folder at or above `start`. Rejects with 'not-a-member' when there is none. */
export async function findMemberFolder(start: string): Promise<string> {
  let directory: string;
  try {
    directory = await realpath(resolve(start));
    if (!(await stat(directory)).isDirectory()) {
      const hint = "Name a member's folder, or a directory inside it.";
      throw new LockstepError('folder-not-found', `${directory} is not a directory. ${hint}`);
    }
  } catch (cause) {
    if (cause instanceof LockstepError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw notOpened(resolve(start), cause);
    throw new LockstepError('folder-not-found', `${resolve(start)} does not exist. Name a member's folder.`, { cause });
  }
  const found = await memberFolderAbove(directory);
  if (found === undefined) {
    // A folder that this user may not read may be a member's.
    await access(directory, constants.X_OK).catch((cause: unknown) => {
      throw notOpened(directory, cause);
    });
    throw new LockstepError(
      'not-a-member',
      `Neither ${directory} nor a folder above it is a member's folder. If it is on a disk that is not mounted, mount that; ` +
        'otherwise make it one with `lockstep init`.',
    );
  }
  return found;
}

/**
 * Checks the folder before an agent opens it: it can be written, is no copy of another member's, and is not inside another member's folder.
 * `adopt` accepts a copied state directory as the original. A directory that is 'adopted', or whose record is 'damaged', may be one of two
 * with the same journal. It is recorded with `recordPlace` once the agent numbers its operations under a new incarnation.
 */
export async function checkStateDirectory(
  directory: string,
  options: { readonly adopt: boolean },
): Promise<'same' | 'moved' | 'damaged' | 'adopted'> {
  await existingFolder(directory);
  await refuseNested(directory);
  try {
    return await checkInstance(directory);
  } catch (cause) {
    if (!options.adopt || !(cause instanceof LockstepError)) throw cause;
    return 'adopted';
  }
}

/** Records that the state directory belongs to the folder that it is in, and to no other. */
export function recordPlace(directory: string): Promise<void> {
  return writeInstance(directory);
}

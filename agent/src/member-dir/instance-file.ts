import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LockstepError, stateDirectoryName } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { z } from 'zod';
import { readRegularFile } from '../os/regular-file.ts';
import { writeDurably } from './durable-file.ts';

/**
 * The place of a state directory. The inode numbers survive a move and a restart but no copy. So they distinguish a folder that was moved
 * from a state directory that was copied. Two members with one identity would use the same operation numbers.
 */
const instanceSchema = z.object({
  path: z.string(),
  device: z.string(),
  folderInode: z.string(),
  stateInode: z.string(),
});

type Instance = z.infer<typeof instanceSchema>;

function instancePath(state: string): string {
  return join(state, 'instance.json');
}

async function placeOf(directory: string, statePath: string): Promise<Instance> {
  const folder = await stat(directory, { bigint: true });
  const state = await stat(statePath, { bigint: true });
  return {
    path: directory,
    device: String(folder.dev),
    folderInode: String(folder.ino),
    stateInode: String(state.ino),
  };
}

/** Records that the state directory `state` belongs to the folder `directory`. */
export async function writeInstance(directory: string, state = join(directory, stateDirectoryName)): Promise<void> {
  await writeDurably(instancePath(state), `${JSON.stringify(await placeOf(directory, state), null, 2)}\n`);
}

async function readInstance(state: string): Promise<Instance | 'missing' | 'damaged'> {
  const path = instancePath(state);
  let text: string;
  try {
    text = await readRegularFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    throw new LockstepError('folder-not-writable', unreadableFile(path, code), { cause });
  }
  try {
    return instanceSchema.parse(JSON.parse(text));
  } catch {
    return 'damaged';
  }
}

/**
 * Checks whether the state directory is where it was made, and writes nothing. 'remounted': only the device number differs, which may
 * change at each mount. 'damaged': the record cannot be parsed; a power cut or a failing disk causes that, but no copy. Rejects with
 * 'copied-state' if it is a copy, or if there is no record.
 */
export async function inspectInstance(directory: string): Promise<'same' | 'moved' | 'remounted' | 'damaged'> {
  const state = join(directory, stateDirectoryName);
  const recorded = await readInstance(state);
  if (recorded === 'damaged') return recorded;
  const found = await placeOf(directory, state);
  if (
    recorded !== 'missing' &&
    recorded.folderInode === found.folderInode &&
    recorded.stateInode === found.stateInode
  ) {
    if (recorded.path === found.path) return recorded.device === found.device ? 'same' : 'remounted';
    // A different device at a different path is another disk whose numbers happen to agree.
    if (recorded.device === found.device) return 'moved';
  }
  const origin =
    recorded === 'missing'
      ? `${instancePath(state)} is missing, so it is unknown whether ${state} was copied from another folder.`
      : recorded.path === found.path
        ? `${state} is not the one that was made here: the folder was copied or restored from a backup, or its file system gives ` +
          'files other inode numbers at each mount, as FAT and some FUSE file systems do.'
        : `${state} was copied from ${recorded.path}.`;
  throw new LockstepError(
    'copied-state',
    `${origin} Two members must not share one identity. To make this folder a member of its own, keep a copy of ` +
      `${join(state, 'cluster.key')}, remove ${state} and run \`lockstep init --cluster-key-file\` again: your files stay. ` +
      'If the original is gone for good, or there is no other, `lockstep up --adopt` continues with this one.',
  );
}

/** The same for an agent that is to run there: the new place of a moved folder is recorded. */
export async function checkInstance(directory: string): Promise<'same' | 'moved' | 'damaged'> {
  const found = await inspectInstance(directory);
  if (found === 'moved' || found === 'remounted') await writeInstance(directory);
  return found === 'remounted' ? 'same' : found;
}

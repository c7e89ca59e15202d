import { createHash, randomBytes } from 'node:crypto';
import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { readRegularFile } from '../../os/regular-file.ts';
import { decodeBase32, encodeBase32 } from './base32.ts';

/** The length of a cluster key in bytes: too long to guess, so a proof made with it can be shown to anyone. */
export const clusterKeyBytes = 32;

const keyWord = 'lockstep-key-1';

/** Draws the key of a new cluster. Anyone who has it can join. */
export function createClusterKey(): Uint8Array {
  return new Uint8Array(randomBytes(clusterKeyBytes));
}

/** The text of a cluster key file. */
export function formatClusterKey(key: Uint8Array): string {
  return [
    `# The key of Lockstep cluster ${clusterIdOf(key)}. Anyone who has it can join: keep it secret.`,
    '# Copy this file to a new member and run lockstep init there with --cluster-key-file.',
    `${keyWord} ${encodeBase32(key)}`,
    '',
  ].join('\n');
}

/** Parses the text of a cluster key file; `file` is its name in error messages. Throws `cluster-key-invalid`. */
export function parseClusterKey(text: string, file: string): Uint8Array {
  if (text.includes('\0')) throw invalid(file, 'contains zeros instead of text');
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line] = lines;
  // The messages never repeat the line: it may be a key with one letter wrong.
  if (line === undefined) throw invalid(file, 'contains no key');
  if (lines.length > 1) throw invalid(file, 'has more than one line that is not a comment');
  const [word, encoded, ...rest] = line.split(/\s+/);
  if (word !== keyWord || encoded === undefined || rest.length > 0) {
    throw invalid(file, `has no line "${keyWord} <key>"`);
  }
  const key = decodeBase32(encoded);
  if (key?.length !== clusterKeyBytes) throw invalid(file, 'contains a key that is cut short or mistyped');
  return key;
}

/** Reads the cluster key in the file at `path`. Throws `cluster-key-invalid`. */
export async function loadClusterKey(path: string, read = readRegularFile): Promise<Uint8Array> {
  let text: string;
  try {
    text = await read(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const missing = `${path} does not exist. Copy .lockstep/cluster.key from another member of the cluster, or restore it from a backup.`;
    const message = code === 'ENOENT' ? missing : unreadableFile(path, code);
    throw new LockstepError('cluster-key-invalid', `The cluster key ${message}`, { cause });
  }
  return parseClusterKey(text, path);
}

/** The cluster's id for people: it distinguishes clusters and reveals nothing of the key. */
export function clusterIdOf(key: Uint8Array): string {
  const hash = createHash('sha256').update('lockstep-cluster-id-1').update(key).digest();
  return encodeBase32(hash).slice(0, 8);
}

function invalid(file: string, what: string): LockstepError {
  return new LockstepError(
    'cluster-key-invalid',
    `${file} ${what}. Copy .lockstep/cluster.key again from a member of the cluster, or restore it from a backup.`,
  );
}

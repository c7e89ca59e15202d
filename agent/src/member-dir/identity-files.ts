import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { type Identity, memberIdOf, renewCertificate } from '../net/keys/identity.ts';
import { readRegularFile } from '../os/regular-file.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably, writeNewDurably } from './durable-file.ts';

export const keyFileName = 'identity.key';
export const certificateFileName = 'identity.crt';

const certificateMode = 0o644;

/** Writes a new identity into `directory`, durably. Rejects with 'identity-invalid' if there is one: an identity is never overwritten. */
export async function saveIdentity(directory: string, identity: Identity): Promise<void> {
  const files = [
    [keyFileName, identity.key, 0o600],
    [certificateFileName, identity.certificate, certificateMode],
  ] as const;
  for (const [name, text, mode] of files) {
    const path = join(directory, name);
    await writeNewDurably(path, text, mode).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
      throw new LockstepError(
        'identity-invalid',
        `${path} already exists: a member keeps its identity. Remove the whole .lockstep directory to start as a new member.`,
        { cause },
      );
    });
  }
}

/** Reads the identity in `directory` and checks that key and certificate belong together. Rejects with 'identity-invalid'. */
export async function loadIdentity(directory: string): Promise<Identity> {
  const [keyPath, certificatePath] = [join(directory, keyFileName), join(directory, certificateFileName)];
  const key = await readPem(keyPath);
  if (key === undefined) throw lost(keyPath, 'is missing');
  const privateKey = parse(() => createPrivateKey(key));
  if (privateKey === undefined) throw lost(keyPath, 'is damaged');
  const certificate = await readPem(certificatePath);
  if (certificate === undefined) throw new CertificateLost(certificatePath, 'is missing');
  const parsed = parse(() => new X509Certificate(certificate));
  if (parsed === undefined) throw new CertificateLost(certificatePath, 'is damaged');
  if (!parsed.checkPrivateKey(privateKey)) throw lost(keyPath, `does not belong to ${certificateFileName}`);
  return { memberId: memberIdOf(parsed.publicKey), key, certificate };
}

/** As `loadIdentity`, for the agent itself: a missing or damaged certificate is made again from the key. */
export async function openIdentity(directory: string, log: Log): Promise<Identity> {
  try {
    return await loadIdentity(directory);
  } catch (error) {
    if (!(error instanceof CertificateLost)) throw error;
    const { key, certificate, memberId } = await renewCertificate(await readRegularFile(join(directory, keyFileName)));
    await writeDurably(error.path, certificate, certificateMode);
    log.warn(
      { path: error.path },
      `${certificateFileName} was missing or damaged; it was made again from ${keyFileName}`,
    );
    return { key, certificate, memberId };
  }
}

/** The text of the file at `path`, or undefined when there is none. */
async function readPem(path: string): Promise<string | undefined> {
  return readRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    // Nothing is lost: the advice for a lost key would cost this member its identity.
    throw new LockstepError('identity-invalid', unreadableFile(path, cause.code), { cause });
  });
}

function parse<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function lost(path: string, what: string): LockstepError {
  return new LockstepError(
    'identity-invalid',
    `${path} ${what}. Restore ${keyFileName} and ${certificateFileName} from a backup, or remove the .lockstep directory and run ` +
      'lockstep init to join as a new member; the files of the folder stay.',
  );
}

/** The error for a lost certificate, which can be made again from the key. */
class CertificateLost extends LockstepError {
  readonly path: string;
  constructor(path: string, what: string) {
    super('identity-invalid', `${path} ${what}. lockstep up makes it again from ${keyFileName}.`);
    this.path = path;
  }
}

import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockstepError, type MemberId } from '@lockstep/shared';
import { encodeBase32 } from './base32.ts';

/** Who a member is on the network: a key pair, and the self-signed certificate that TLS wants it wrapped in. */
export interface Identity {
  readonly memberId: MemberId;
  /** Private key, PEM. */
  readonly key: string;
  /** Self-signed certificate of the key, PEM. */
  readonly certificate: string;
}

export const keyFileName = 'identity.key';
export const certificateFileName = 'identity.crt';

/** The member whose public key this is: base32 of the SHA-256 of its SPKI form. */
export function memberIdOf(publicKey: KeyObject): MemberId {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return encodeBase32(createHash('sha256').update(spki).digest()) as MemberId;
}

/** Draws a new identity. */
export async function createIdentity(): Promise<Identity> {
  // Loaded here because only this needs it: 17 MiB of memory that a running agent does not spend.
  const { generate } = await import('selfsigned');
  // The dates are fixed and wide: a member is its key, nobody judges the certificate, and a machine whose clock is wrong must
  // not make one that others would call expired.
  const pair = await generate([{ name: 'commonName', value: 'lockstep' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date('2000-01-01T00:00:00Z'),
    notAfterDate: new Date('9999-12-31T23:59:59Z'),
  });
  const memberId = memberIdOf(new X509Certificate(pair.cert).publicKey);
  return { memberId, key: pair.private, certificate: pair.cert };
}

/** Writes a new identity into `directory`, durably. An identity that is there already is never overwritten. */
export async function saveIdentity(directory: string, identity: Identity): Promise<void> {
  await writeNew(join(directory, keyFileName), identity.key, 0o600);
  await writeNew(join(directory, certificateFileName), identity.certificate, 0o644);
  // Fsync the directory too: without it a power cut can undo the new names.
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
    throw new LockstepError(
      'identity-invalid',
      `${path} exists already: a member keeps its identity. Remove the whole .lockstep directory to start as a new member.`,
      { cause },
    );
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads the identity in `directory` and checks that key and certificate belong together. */
export async function loadIdentity(directory: string): Promise<Identity> {
  const key = await readPem(join(directory, keyFileName));
  const certificate = await readPem(join(directory, certificateFileName));
  const parsed = parse(join(directory, certificateFileName), () => new X509Certificate(certificate));
  const privateKey = parse(join(directory, keyFileName), () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey)) {
    throw invalid(join(directory, keyFileName), `does not belong to ${certificateFileName}`);
  }
  return { memberId: memberIdOf(parsed.publicKey), key, certificate };
}

async function readPem(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw invalid(path, 'is missing', cause);
    // Nothing is lost: the advice for what is would cost this member its identity.
    const message = `${path} cannot be read (${cause.code}). Give this user the right to read it, or run as its owner.`;
    throw new LockstepError('identity-invalid', message, { cause });
  });
}

function parse<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw invalid(path, 'is damaged', cause);
  }
}

function invalid(path: string, what: string, cause?: unknown): LockstepError {
  return new LockstepError(
    'identity-invalid',
    `${path} ${what}. Restore ${keyFileName} and ${certificateFileName} from a backup, or remove the .lockstep directory and run ` +
      'lockstep init to join as a new member; the files of the folder stay.',
    { cause },
  );
}

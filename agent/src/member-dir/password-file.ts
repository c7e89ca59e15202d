import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { z } from 'zod';
import { readRegularFile } from '../os/regular-file.ts';
import { shellWord } from '../os/shell-word.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';
import { statePath } from './state-directory.ts';

/** The least length of a password: an attacker may try some thousands a day. */
export const passwordLengthMin = 12;

/** The cost of a try: 64 MiB of memory, about a tenth of a second. */
const cost = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 };
const hashBytes = 32;

const recordSchema = z.object({ salt: z.base64url(), hash: z.base64url() });

type Scrypt = (password: string, salt: Buffer, length: number, options: typeof cost) => Promise<Buffer>;
const derive: Scrypt = promisify(scrypt);

function passwordPath(directory: string): string {
  return join(statePath(directory), 'dashboard-password.json');
}

async function readRecord(directory: string): Promise<z.infer<typeof recordSchema> | undefined> {
  const path = passwordPath(directory);
  let text: string;
  try {
    text = await readRegularFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new LockstepError('config-invalid', unreadableFile(path, code), { cause });
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    const again = `lockstep dashboard password ${shellWord(directory)}`;
    throw new LockstepError('config-invalid', `${path} is damaged. Set the password again: ${again}`, { cause });
  }
}

/** Sets the password of the dashboard of the member in `directory`. */
export async function setPassword(directory: string, password: string): Promise<void> {
  const salt = randomBytes(16);
  const hash = await derive(password.normalize('NFC'), salt, hashBytes, cost);
  const record = { salt: salt.toString('base64url'), hash: hash.toString('base64url') };
  await writeDurably(passwordPath(directory), `${JSON.stringify(record)}\n`);
}

/** True if a password was set. Rejects with 'config-invalid' if its file cannot be read. */
export async function hasPassword(directory: string): Promise<boolean> {
  return (await readRecord(directory)) !== undefined;
}

/** True if `password` is the one that was set last. */
async function isPassword(directory: string, password: string): Promise<boolean> {
  const record = await readRecord(directory);
  if (record === undefined) return false;
  const known = Buffer.from(record.hash, 'base64url');
  const hash = await derive(password.normalize('NFC'), Buffer.from(record.salt, 'base64url'), hashBytes, cost);
  return known.length === hash.length && timingSafeEqual(known, hash);
}

/**
 * The password as the dashboard checks it. While its file is damaged no password is right and none is asked for, and the log says what to do:
 * links still log browsers in, and the folder is replicated.
 */
export async function passwordCheck(directory: string, log: Log) {
  const refuse = (error: unknown): false => {
    if (!(error instanceof LockstepError)) throw error;
    log.warn({}, `The dashboard takes no password until this is mended. ${error.message}`);
    return false;
  };
  const check = {
    isSet: () => hasPassword(directory).catch(refuse),
    isRight: (password: string) => isPassword(directory, password).catch(refuse),
  };
  await check.isSet();
  return check;
}

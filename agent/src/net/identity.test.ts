import { X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMemberId } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  certificateFileName,
  createIdentity,
  type Identity,
  keyFileName,
  loadIdentity,
  memberIdOf,
  saveIdentity,
} from './identity.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-identity-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('an identity', () => {
  test('comes back as it was saved, and its key is for its owner only', async () => {
    const identity = await createIdentity();
    await saveIdentity(directory, identity);
    expect(await loadIdentity(directory)).toEqual(identity);
    expect((await stat(join(directory, keyFileName))).mode & 0o777).toBe(0o600);
  });

  test('is named by its public key', async () => {
    const [first, second] = await Promise.all([createIdentity(), createIdentity()]);
    expect(isMemberId(first.memberId)).toBe(true);
    expect(first.memberId).toBe(memberIdOf(new X509Certificate(first.certificate).publicKey));
    expect(first.memberId).not.toBe(second.memberId);
  });

  test('has a certificate that outlives its machine', async () => {
    const { certificate } = await createIdentity();
    const { validFrom, validTo } = new X509Certificate(certificate);
    expect(new Date(validFrom).getUTCFullYear()).toBe(2000);
    expect(new Date(validTo).getUTCFullYear()).toBe(9999);
  });

  test('is never overwritten', async () => {
    const identity = await createIdentity();
    await saveIdentity(directory, identity);
    await expect(saveIdentity(directory, await createIdentity())).rejects.toMatchObject({ code: 'identity-invalid' });
    expect(await loadIdentity(directory)).toEqual(identity);
  });
});

describe('a broken identity is named', () => {
  let identity: Identity;
  beforeEach(async () => {
    identity = await createIdentity();
    await saveIdentity(directory, identity);
  });

  test.each<[string, string, (path: string) => Promise<void>]>([
    [keyFileName, 'is missing', (path) => rm(path)],
    [certificateFileName, 'is missing', (path) => rm(path)],
    [keyFileName, 'is damaged', (path) => writeFile(path, '-----BEGIN PRIVATE KEY-----\nAAAA')],
    [certificateFileName, 'is damaged', async (path) => writeFile(path, (await readFile(path)).subarray(0, 100))],
    [keyFileName, 'is damaged', (path) => writeFile(path, '')],
    [keyFileName, 'does not belong to', async (path) => writeFile(path, (await createIdentity()).key)],
  ])('%s %s', async (file, what, damage) => {
    await damage(join(directory, file));
    const message = expect.stringMatching(`${file} ${what}.*run lockstep init`);
    await expect(loadIdentity(directory)).rejects.toMatchObject({ code: 'identity-invalid', message });
  });

  test.skipIf(process.getuid?.() === 0)('a key that cannot be read', async () => {
    await chmod(join(directory, keyFileName), 0);
    await expect(loadIdentity(directory)).rejects.toMatchObject({
      code: 'identity-invalid',
      message: expect.stringContaining('cannot be read (EACCES). Give this user the right to read it'),
    });
  });
});

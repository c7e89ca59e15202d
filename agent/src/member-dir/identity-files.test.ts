import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createIdentity, type Identity } from '../net/keys/identity.ts';
import { certificateFileName, keyFileName, loadIdentity, openIdentity, saveIdentity } from './identity-files.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-identity-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('an identity', () => {
  test('is read as it was saved, and its key is readable by its owner only', async () => {
    const identity = await createIdentity();
    await saveIdentity(directory, identity);
    expect(await loadIdentity(directory)).toEqual(identity);
    expect((await stat(join(directory, keyFileName))).mode & 0o777).toBe(0o600);
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
    [keyFileName, 'is damaged', (path) => writeFile(path, '-----BEGIN PRIVATE KEY-----\nAAAA')],
    [keyFileName, 'is damaged', (path) => writeFile(path, '')],
    [keyFileName, 'is damaged', (path) => writeFile(path, Buffer.alloc(240))],
    [keyFileName, 'does not belong to', async (path) => writeFile(path, (await createIdentity()).key)],
  ])('%s %s', async (file, what, damage) => {
    await damage(join(directory, file));
    const message = expect.stringMatching(`${file} ${what}.*run lockstep init`);
    await expect(loadIdentity(directory)).rejects.toMatchObject({ code: 'identity-invalid', message });
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['missing', (path) => rm(path)],
    ['empty', (path) => writeFile(path, '')],
    ['torn', async (path) => writeFile(path, (await readFile(path)).subarray(0, 100))],
    ['full of zeros', async (path) => writeFile(path, Buffer.alloc((await stat(path)).size))],
  ])('[ST5] a certificate that is %s is made again for the same member, only by the agent', async (_, damage) => {
    await damage(join(directory, certificateFileName));
    const message = expect.stringMatching(/identity\.crt is .*lockstep up makes it again from identity\.key/);
    await expect(loadIdentity(directory)).rejects.toMatchObject({ code: 'identity-invalid', message });
    const said: unknown[] = [];
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (what: object) => said.push(what),
      error: () => undefined,
    };
    const opened = await openIdentity(directory, log);
    expect(opened).toMatchObject({ memberId: identity.memberId, key: identity.key });
    expect(said).toEqual([{ path: join(directory, certificateFileName) }]);
    expect(await loadIdentity(directory)).toEqual(opened);
  });

  test.skipIf(process.getuid?.() === 0)('a key that cannot be read', async () => {
    await chmod(join(directory, keyFileName), 0);
    await expect(loadIdentity(directory)).rejects.toMatchObject({
      code: 'identity-invalid',
      message: expect.stringContaining('cannot be read (EACCES). Give this user the right to read it'),
    });
  });
});

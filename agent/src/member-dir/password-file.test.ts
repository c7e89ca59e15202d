import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { passwordCheck, setPassword } from './password-file.ts';
import { statePath } from './state-directory.ts';

const password = 'correct horse battery';

/** A member's folder with a password, and the warnings of its agent. */
async function withPassword() {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-password-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(statePath(directory));
  await setPassword(directory, password);
  const warnings: string[] = [];
  const warn = (_: unknown, message: string): void => void warnings.push(message);
  const log = { debug: warn, info: warn, warn, error: warn };
  return { directory, file: join(statePath(directory), 'dashboard-password.json'), warnings, log };
}

test('[AC5] the password that was set is right, and no other', async () => {
  const { directory, warnings, log } = await withPassword();
  const check = await passwordCheck(directory, log);
  expect([await check.isSet(), await check.isRight(password), await check.isRight('another one')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(warnings).toEqual([]);
});

test.each([
  ['cut off', (file: string) => truncate(file, 20)],
  ['empty', (file: string) => truncate(file, 0)],
  ['full of zeros', async (file: string) => writeFile(file, Buffer.alloc((await readFile(file)).length))],
])('[AC5] a password file that is %s is told at the start, and lets no one in', async (_, damage) => {
  const { directory, file, warnings, log } = await withPassword();
  await damage(file);
  const check = await passwordCheck(directory, log);
  expect(warnings).toEqual([
    expect.stringMatching(
      /takes no password.*dashboard-password\.json is damaged\. Set the password again: lockstep dashboard password/,
    ),
  ]);
  expect([await check.isSet(), await check.isRight(password), await check.isRight('')]).toEqual([false, false, false]);
  await setPassword(directory, password);
  expect(await check.isRight(password)).toBe(true);
});

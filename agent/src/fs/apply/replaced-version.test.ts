import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fingerprintOf, lstatIfThere } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { type Places, temporaryNames } from '../places.ts';
import { ReplacedVersion } from './replaced-version.ts';

/** A file of which a user writes the old version while it is replaced, after which `then` happens. Returns the texts of all files. */
function putBackAfter(then: (file: string) => void): Record<string, string> {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-replaced-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const folder = join(directory, 'folder');
  const staging = join(directory, 'staging');
  mkdirSync(folder);
  mkdirSync(staging);
  const system = nodeSystemCalls();
  const places = { system, staging, temporaryName: temporaryNames('t'), memberName: 'ant' } as Places;
  const file = join(folder, 'file');
  writeFileSync(file, 'old');
  const stats = lstatIfThere(system, file);
  if (stats === undefined) throw new Error('the file is missing');
  const replaced = ReplacedVersion.hold(places, file, fingerprintOf(stats), undefined);
  appendFileSync(file, ', edited');
  const source = join(staging, 'new');
  writeFileSync(source, 'new');
  renameSync(source, file);
  then(file);
  expect(replaced?.isUnchanged()).toBe(false);
  replaced?.putBack(source, file);
  expect(readdirSync(staging).filter((name) => name !== 'new')).toEqual([]);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

test('[MT4] a file that was written to while it was replaced has its name again', () => {
  expect(putBackAfter(() => undefined)).toEqual({ file: 'old, edited' });
});

// Simulator, seed 34099: the edit was lost.
test('[MT4] it also has if a user has moved the new file away', () => {
  expect(putBackAfter((file) => renameSync(file, `${file}-2`))).toEqual({ file: 'old, edited', 'file-2': 'new' });
});

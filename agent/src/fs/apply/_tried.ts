import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import { fingerprintOf, lstatIfThere } from '../entry-stat.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { type Places, temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import type { Placed } from './replaced-version.ts';

/** A folder with one file that is to be replaced or taken away. */
export interface Tried {
  readonly places: Places;
  readonly folder: string;
  readonly staging: string;
  /** A file with the text `old`, in a directory of the folder. */
  readonly file: string;
  readonly target: Placed;
  readonly expected: Fingerprint;
}

export function tried(): Tried {
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-replaced-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [folder, staging] = [join(directory, 'folder'), join(directory, 'staging')];
  mkdirSync(join(folder, 'sub'), { recursive: true });
  mkdirSync(staging);
  const system = nodeSystemCalls();
  const top = system.openDirectory(folder);
  onTestFinished(() => top.close());
  const stateIdentity = { dev: 0, ino: 0 };
  const places = {
    system,
    root: folder,
    state: directory,
    mounts: { accepted: [], foreign: [] },
    staging,
    history: join(directory, 'history'),
    hash: blockHash,
    stateIdentity,
    top,
    temporaryName: temporaryNames('t'),
    memberName: 'ant',
  } as Partial<Places> as Places;
  const file = join(folder, 'sub', 'file');
  writeFileSync(file, 'old');
  const parent = system.openDirectory(join(folder, 'sub'));
  onTestFinished(() => parent.close());
  const stats = lstatIfThere(system, file);
  if (stats === undefined) throw new Error('the file is missing');
  const target = { path: 'sub/file', entry: `${parent.path}/file` };
  return { places, folder, staging, file, target, expected: fingerprintOf(stats) };
}

/** The texts of all files in the folder by their paths, with the time in names of conflict copies as `T`. */
export function textsIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const named = (path: string): string => path.slice(folder.length + 1).replace(/\d{8}T\d{9}Z/, 'T');
  return Object.fromEntries(paths.map((path) => [named(path), readFileSync(path, 'utf8')]));
}

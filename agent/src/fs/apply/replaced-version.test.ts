import { appendFileSync, lstatSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { fingerprintOf } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { blockHash, singleBlockId } from '../read/content-id.ts';
import type { SystemCalls } from '../system-calls.ts';
import { type Tried, textsIn, tried } from './_tried.ts';
import { clearStaging } from './left-files.ts';
import { Placing } from './placing.ts';
import { moveToFree, ReplacedVersion, TakenVersion } from './replaced-version.ts';

/** A file of which a user writes the old version while it is replaced, after which `then` happens. Returns the texts of all files. */
function putBackAfter(then: (file: string) => void): Record<string, string> {
  const { places, folder, staging, file, target, expected } = tried();
  const replaced = ReplacedVersion.hold(places, target.entry, expected, undefined);
  appendFileSync(file, ', edited');
  const source = join(staging, 'new');
  writeFileSync(source, 'new');
  renameSync(source, file);
  then(file);
  expect(replaced?.isUnchanged()).toBe(false);
  replaced?.putBack(source, target);
  expect(readdirSync(staging).filter((name) => name !== 'new')).toEqual([]);
  return textsIn(folder);
}

/** A file of which a user writes the old version while it is replaced, and for which the disk then refuses this many new names. */
function putBackRefused(refusals: number): Tried {
  const parts = tried();
  const { places, staging, file, target, expected } = parts;
  const { system } = places;
  let left = 0;
  const link: SystemCalls['link'] = (existing, name) => {
    if (left-- > 0) throw Object.assign(new Error('the disk failed'), { code: 'EIO' });
    system.link(existing, name);
  };
  const failing = { ...places, system: Object.assign(Object.create(system) as SystemCalls, { link }) } as Places;
  const replaced = ReplacedVersion.hold(failing, target.entry, expected, undefined);
  appendFileSync(file, ', edited');
  const source = join(staging, 'new');
  writeFileSync(source, 'new');
  renameSync(source, file);
  left = refusals;
  expect(() => replaced?.putBack(source, target)).toThrow('the disk failed');
  return parts;
}

// Simulator, seed 188246: the file stayed in staging until the next start, which took it for an old version.
test('[MT4] a file that was written to while it was replaced becomes a conflict copy if the disk fails then', () => {
  const { folder, staging } = putBackRefused(1);
  expect(readdirSync(staging)).toEqual([]);
  expect(textsIn(folder)).toEqual({ 'sub/file': 'new', 'sub/file.conflict-T-ant': 'old, edited' });
});

describe('[MT4] a file that was written to while it was replaced, and for which the disk refused every name', () => {
  test('comes back at the next start, in the uppermost directory', () => {
    const { places, folder, staging } = putBackRefused(2);
    expect(readdirSync(staging)).toHaveLength(1);
    clearStaging(places, { withInode: () => [] });
    expect(readdirSync(staging)).toEqual([]);
    expect(textsIn(folder)).toEqual({ 'sub/file': 'new', recovered: 'old, edited' });
  });

  test('is removed if it was not written to', () => {
    const { places, folder, staging, target, expected } = tried();
    ReplacedVersion.hold(places, target.entry, expected, undefined);
    rmSync(join(folder, 'sub'), { recursive: true });
    const [name = ''] = readdirSync(staging);
    // As one that was last written to long before.
    utimesSync(join(staging, name), 1, 1);
    renameSync(join(staging, name), join(staging, name.replace(/-of-.*$/, '-of-3-1000')));
    clearStaging(places, { withInode: () => [] });
    expect(readdirSync(staging)).toEqual([]);
    expect(textsIn(folder)).toEqual({});
  });
});

test('[MT4] a file that was written to while it was replaced has its name again', () => {
  expect(putBackAfter(() => undefined)).toEqual({ 'sub/file': 'old, edited' });
});

// Simulator, seed 34099: the edit was lost.
test('[MT4] it also has if a user has moved the new file away', () => {
  expect(putBackAfter((file) => renameSync(file, `${file}-2`))).toEqual({
    'sub/file': 'old, edited',
    'sub/file-2': 'new',
  });
});

describe('[MT4] one whose directory was removed meanwhile', () => {
  const removed = (file: string): void => rmSync(join(file, '..'), { recursive: true });

  test('is a conflict copy in the directory above', () => {
    expect(putBackAfter(removed)).toEqual({ 'file.conflict-T-ant': 'old, edited' });
  });

  test('is a conflict copy also if a file has the name of the directory', () => {
    const texts = putBackAfter((file) => {
      removed(file);
      writeFileSync(join(file, '..'), 'a file');
    });
    expect(texts).toEqual({ 'file.conflict-T-ant': 'old, edited', sub: 'a file' });
  });

  // Simulator, seed 44913: the edit stayed in staging.
  test('is a conflict copy if the agent was deleting it', () => {
    const { places, folder, staging, file, target, expected } = tried();
    appendFileSync(file, ', edited');
    const { system } = places;
    // The user's `rm -r` comes when the agent has taken the file, and sees an empty directory.
    const rename = (from: string, to: string): void => {
      system.rename(from, to);
      if (from === target.entry) removed(file);
    };
    const taken = TakenVersion.take({ ...places, system: { ...system, rename } }, target, expected, undefined);
    expect(taken).toBeUndefined();
    expect(readdirSync(staging)).toEqual([]);
    expect(textsIn(folder)).toEqual({ 'file.conflict-T-ant': 'old, edited' });
  });
});

// Simulator, seed 63243: a link that made way for a directory stayed in staging, since there was no room for either.
// The simulator's seed 150017.
test('[MT4] a file that a user put at the name after its check is not replaced where second names are refused', () => {
  const { places, folder, file, target, expected } = tried();
  const { system } = places;
  const refusing: SystemCalls = Object.assign(Object.create(system) as SystemCalls, {
    link: () => {
      writeFileSync(join(folder, 'new'), 'mine');
      renameSync(join(folder, 'new'), file);
      throw Object.assign(new Error('refused'), { code: 'EPERM' });
    },
  });
  expect(ReplacedVersion.hold({ ...places, system: refusing }, target.entry, expected, undefined)).toBeUndefined();
  expect(textsIn(folder)).toEqual({ 'sub/file': 'mine' });
});

test('[MT4] a version that was taken away is put back on a full disk', () => {
  const { places, folder, staging, target, expected } = tried();
  const system = new Proxy(places.system, {
    get: (calls, call: keyof Places['system']) => (call === 'link' ? throwsFull : calls[call]),
  });
  const taken = TakenVersion.take({ ...places, system }, target, expected, undefined);
  expect(textsIn(folder)).toEqual({});
  taken?.putBack();
  expect(textsIn(folder)).toEqual({ 'sub/file': 'old' });
  expect(readdirSync(staging)).toEqual([]);
});

test('[MT4] a version that cannot be examined once it is taken away is put back', () => {
  const { places, folder, staging, target, expected } = tried();
  const lstat: SystemCalls['lstat'] = (path) => {
    if (path.startsWith(staging)) throw Object.assign(new Error('the disk failed'), { code: 'EIO' });
    return places.system.lstat(path);
  };
  const system = { ...places.system, lstat };
  expect(TakenVersion.take({ ...places, system }, target, expected, undefined)).toBeUndefined();
  expect(textsIn(folder)).toEqual({ 'sub/file': 'old' });
  expect(readdirSync(staging)).toEqual([]);
});

test('[MT4] an entry that has its new name counts as moved, although its private name cannot be removed', () => {
  const { places, folder, staging } = tried();
  const name = join(staging, 'new');
  writeFileSync(name, 'new');
  const unlink = (): never => {
    throw Object.assign(new Error('not permitted'), { code: 'EACCES' });
  };
  moveToFree({ ...places.system, unlink }, name, join(folder, 'moved'));
  expect(textsIn(folder)).toEqual({ 'sub/file': 'old', moved: 'new' });
});

describe('[MT4] a user wrote to the old version while a new one replaced it', () => {
  interface Course {
    /** The new version: a path in the folder. Without it, it is staged. */
    readonly source?: (parts: Tried) => string;
    /** Of the staged version. */
    readonly mtimeSeconds?: number;
    /** Happens when the new version has its name. */
    readonly after?: (parts: Tried) => void;
    /** Does the call that puts the old version back. */
    readonly putBack?: (rename: () => void) => void;
  }

  function replaceWith({ source, mtimeSeconds, after, putBack = (rename) => rename() }: Course): Replaced {
    const parts = tried();
    const { places, folder, staging, file, target, expected } = parts;
    const { system } = places;
    const temporary = join(staging, 't-new');
    writeFileSync(temporary, 'new');
    if (mtimeSeconds !== undefined) utimesSync(temporary, mtimeSeconds, mtimeSeconds);
    const fingerprint = fingerprintOf(lstatSync(temporary));
    const rename = (from: string, to: string): void => {
      if (to === target.entry && lstatSync(file).ino !== expected.ino) {
        putBack(() => system.rename(from, to));
        return;
      }
      if (to === target.entry) appendFileSync(file, ', edited');
      system.rename(from, to);
      if (to === target.entry) after?.(parts);
    };
    const placing = new Placing({ ...places, system: { ...system, rename } }, undefined);
    try {
      const replacing = source?.(parts) ?? { temporary, fingerprint, borrowed: false, content: undefined };
      expect(placing.replace(replacing, target, expected, undefined)).toBe(false);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      const content = singleBlockId(blockHash, Buffer.from('old'));
      const row = { path: target.path, dot: { origin: 'ant.1' as OriginId, seq: 1 }, content, fingerprint: expected };
      clearStaging(places, { withInode: (ino) => (ino === expected.ino ? [row] : []) });
    }
    return { texts: textsIn(folder), staged: readdirSync(staging) };
  }

  interface Replaced {
    readonly texts: Record<string, string>;
    readonly staged: readonly string[];
  }

  class Killed extends Error {}

  const putsOwn = ({ folder, file }: Tried): void => {
    writeFileSync(join(folder, 'mine'), 'mine');
    renameSync(join(folder, 'mine'), file);
  };
  const isKilledAfter = (rename: () => void): void => {
    rename();
    throw new Killed();
  };
  const isKilledBefore = (): void => {
    throw new Killed();
  };

  test('the new one is staged again', () => {
    const texts = { 'sub/file': 'old, edited' };
    expect(replaceWith({})).toEqual({ texts, staged: ['t-new'] });
    // It is fetched again after a kill.
    expect(replaceWith({ mtimeSeconds: 1, putBack: isKilledAfter })).toEqual({ texts, staged: [] });
  });

  test('another entry that the user put there is a conflict copy', () => {
    const texts = { 'sub/file': 'old, edited', 'sub/file.conflict-T-ant': 'mine' };
    expect(replaceWith({ after: putsOwn })).toEqual({ texts, staged: [] });
    // It was in staging alone, and lost, if the agent was killed then.
    expect(replaceWith({ after: putsOwn, putBack: isKilledAfter })).toEqual({ texts, staged: [] });
  });

  test('another entry that the user put there stays if the agent is killed before the old version has its name', () => {
    const texts = { 'sub/file': 'mine', 'sub/file.conflict-T-ant': 'old, edited' };
    expect(replaceWith({ after: putsOwn, putBack: isKilledBefore })).toEqual({ texts, staged: [] });
  });

  test('the new one is a conflict copy if the user wrote to that too', () => {
    const texts = { 'sub/file': 'old, edited', 'sub/file.conflict-T-ant': 'new, too' };
    const after = ({ file }: Tried): void => appendFileSync(file, ', too');
    expect(replaceWith({ after })).toEqual({ texts, staged: [] });
    expect(replaceWith({ after, putBack: isKilledAfter })).toEqual({ texts, staged: [] });
  });

  test('the old one is a conflict copy if the new one cannot have its old name again', () => {
    const source = ({ folder }: Tried): string => {
      const path = join(folder, 'renamed');
      writeFileSync(path, 'new');
      return path;
    };
    const after = ({ folder }: Tried): void => writeFileSync(join(folder, 'renamed'), 'mine');
    const texts = { 'sub/file': 'new', 'sub/file.conflict-T-ant': 'old, edited', renamed: 'mine' };
    expect(replaceWith({ source, after }).texts).toEqual(texts);
  });
});

function throwsFull(): never {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}

describe('[MT21] a file that cannot be replaced is told with the change time that the attempt left', () => {
  const refusing = (system: SystemCalls, call: 'rename' | 'mkdir'): SystemCalls =>
    Object.assign(Object.create(system) as SystemCalls, {
      [call]: () => {
        throw Object.assign(new Error('refused'), { code: 'EACCES' });
      },
    });

  test('by another file', () => {
    const { places, staging, file, target, expected } = tried();
    const placing = new Placing({ ...places, system: refusing(places.system, 'rename') }, undefined);
    expect(() => placing.replace(join(staging, 'new'), target, expected, undefined)).toThrow('refused');
    expect(placing.released).toEqual({ before: expected, after: fingerprintOf(lstatSync(file)) });
    expect(readdirSync(staging)).toEqual([]);
  });

  test('by a directory', () => {
    const { places, file, target, expected } = tried();
    const placing = new Placing({ ...places, system: refusing(places.system, 'mkdir') }, undefined);
    expect(() => placing.makeDirectory(target, expected, { mode: 0o755, keep: undefined })).toThrow('refused');
    expect(placing.released).toEqual({ before: expected, after: fingerprintOf(lstatSync(file)) });
  });
});

import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withFolderOpen } from './descent.ts';
import { type DiskSubject, openDiskSubject } from './disk-subject.contract.ts';
import { doOne, fingerprintAt, observeOne, scanAll, tryOne, writeRequest } from './folder-subject.contract.ts';
import { nodeSystemCalls } from './node-system-calls.ts';
import { openPlaces } from './open-folder.ts';
import { temporaryNames } from './places.ts';
import { blockHash } from './read/content-id.ts';
import { observe } from './read/observe.ts';

let subject: DiskSubject;

beforeEach(async () => {
  subject = await openDiskSubject();
});
afterEach(async () => {
  await subject.close();
});

function inFolder(path: string): string {
  return join(subject.root, path);
}

describe('[WT6] a folder that was exchanged since it was opened', () => {
  const gone = { code: 'folder-missing' };

  beforeEach(async () => {
    await doOne(subject, writeRequest(subject, 'file', 'text'));
  });
  afterEach(() => {
    rmSync(`${subject.root}-aside`, { recursive: true, force: true });
  });

  test.each([
    ['was moved away', () => renameSync(subject.root, `${subject.root}-aside`)],
    [
      'was replaced by an empty one',
      () => {
        renameSync(subject.root, `${subject.root}-aside`);
        mkdirSync(join(subject.root, '.lockstep'), { recursive: true });
      },
    ],
    ['lost its .lockstep', () => rmSync(inFolder('.lockstep'), { recursive: true })],
    [
      'got another .lockstep',
      () => {
        renameSync(inFolder('.lockstep'), `${subject.root}-aside`);
        mkdirSync(inFolder('.lockstep'));
      },
    ],
  ])('because it %s: nothing counts as deleted, and nothing is done', async (_name, happen) => {
    const expected = await fingerprintAt(subject, 'file');
    happen();
    expect(await observeOne(subject, 'file')).toMatchObject({ state: 'problem', ...gone });
    expect(await observeOne(subject, 'never')).toMatchObject({ state: 'problem', ...gone });
    for (const path of ['', 'd']) {
      const [scanned] = await scanAll(subject, path);
      expect(scanned).toMatchObject({ entries: [], problem: gone });
      expect(scanned).not.toHaveProperty('absent');
    }
    expect(await tryOne(subject, writeRequest(subject, 'new', 'x'))).toMatchObject({ result: 'problem', ...gone });
    expect(await tryOne(subject, { do: 'unlink', path: 'file', expected })).toMatchObject({
      result: 'problem',
      ...gone,
    });
    expect(await subject.folder.health()).toMatchObject({ ok: false });
  });

  test('while its health is measured: it counts as missing, and has not the room of another disk', async () => {
    const measured = subject.folder.health();
    renameSync(subject.root, `${subject.root}-aside`);
    mkdirSync(inFolder('.lockstep'), { recursive: true });
    expect(await measured).toEqual({ ok: false, detail: expect.stringContaining('folder') });
  });

  test('opening it reports what is missing', async () => {
    await expect(subject.reopen({ root: inFolder('nowhere') })).rejects.toMatchObject({ code: 'folder-not-found' });
    await expect(subject.reopen({ stateDirectory: inFolder('none') })).rejects.toMatchObject({
      code: 'folder-not-found',
    });
  });
});

describe('[WT6] a folder that cannot be examined', () => {
  test.each([
    ['EIO', 'stat', 'The disk answered EIO for the folder'],
    ['EACCES', 'stat', 'The folder cannot be read or written'],
    ['EMFILE', 'openDirectory', 'too many files are open'],
    ['EIO', 'openDirectory', 'The disk answered EIO for the folder'],
  ] as const)('because %s is the answer to %s: its problem says so', (code, call, said) => {
    const { root } = subject;
    const system = nodeSystemCalls();
    const given = { root, realRoot: () => root, state: inFolder('.lockstep'), memberName: 'ant', hash: blockHash };
    const { places } = openPlaces({ ...given, system, temporaryName: temporaryNames('t') });
    const fail = (): never => {
      throw Object.assign(new Error(code), { code });
    };
    const [seen] = withFolderOpen({ ...places, system: { ...system, [call]: fail } }, (opened) =>
      observe(opened, [{ path: 'file' }]),
    );
    expect(seen).toMatchObject({ state: 'problem', code: 'folder-missing', detail: expect.stringContaining(said) });
  });
});

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
import { afterEach, describe, expect, test } from 'vitest';
import type { Action, ActionRequest } from '../sync/ports/folder.ts';
import { type DiskSubject, openDiskSubject, silentLog } from './disk-subject.contract.ts';
import { type ApplyStep, applySteps, faultFromEnvironment } from './fault-point.ts';
import { bytesOf, doOne, fingerprintAt, observeOne, textOf, tryOne, writeRequest } from './folder-subject.contract.ts';
import { runInChild, writeInScript } from './in-child.contract.ts';
import { openFolder } from './open-folder.ts';

let subject: DiskSubject | undefined;
let root: string | undefined;

afterEach(async () => {
  await subject?.close();
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
  subject = undefined;
  root = undefined;
});

/** A folder in which another program acts before one step of the first apply that reaches it, once `arm` was called. */
async function openWithRace(): Promise<{ subject: DiskSubject; arm(step: ApplyStep, happen: () => void): void }> {
  let armed: { step: ApplyStep; happen: () => void } | undefined;
  const opened = await openDiskSubject({
    faultPoint: (step) => {
      if (armed?.step !== step) return;
      const { happen } = armed;
      armed = undefined;
      happen();
    },
  });
  subject = opened;
  return {
    subject: opened,
    arm: (step, happen) => {
      armed = { step, happen };
    },
  };
}

const changed = { result: 'changed' };

describe('[MT4] another program writes between the check and the rename', () => {
  const keepOld = 'old version';
  const edits: [string, (absolute: string) => void, string][] = [
    ['appends to it', (absolute) => appendFileSync(absolute, ', appended'), 'old version, appended'],
    ['rewrites it in place', (absolute) => writeFileSync(absolute, 'their edit!'), 'their edit!'],
    [
      'saves it by rename',
      (absolute) => {
        writeFileSync(`${absolute}~`, 'their save');
        renameSync(`${absolute}~`, absolute);
      },
      'their save',
    ],
  ];
  const cases = edits.flatMap(([what, edit, left]) =>
    (['stage', 'fsync', 'check', 'keep', 'rename'] as const)
      // A replacement within microseconds after the second name was taken is not detected (docs/GUARANTEES.md).
      .filter((step) => step !== 'rename' || what !== 'saves it by rename')
      .map((step) => ({ what, edit, left, step })),
  );

  test.each(cases)('a user $what before `$step`: the edit is kept', async ({ edit, left, step }) => {
    const { subject, arm } = await openWithRace();
    const expected = await doOne(subject, writeRequest(subject, 'file', keepOld));
    const keep = subject.identify(bytesOf(keepOld)).content;
    arm(step, () => edit(join(subject.root, 'file')));
    expect(await tryOne(subject, writeRequest(subject, 'file', 'mine', { expected, keep }))).toEqual(changed);
    expect(textOf(await subject.user.look('file'))).toBe(left);
    expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
    expect(await subject.folder.inHistory([keep])).toEqual(new Set());
  });

  test.each(['check', 'rename'] as const)('a user creates the file before `%s`: theirs is kept', async (step) => {
    const { subject, arm } = await openWithRace();
    arm(step, () => writeFileSync(join(subject.root, 'file'), 'theirs'));
    expect(await tryOne(subject, writeRequest(subject, 'file', 'mine'))).toEqual(changed);
    expect(textOf(await subject.user.look('file'))).toBe('theirs');
    expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
  });

  test.each(edits)('a user who %s before it is removed keeps it', async (_what, edit, left) => {
    const { subject, arm } = await openWithRace();
    const expected = await doOne(subject, writeRequest(subject, 'file', keepOld));
    const keep = subject.identify(bytesOf(keepOld)).content;
    arm('remove', () => edit(join(subject.root, 'file')));
    expect(await tryOne(subject, { action: { do: 'unlink', path: 'file', expected }, keep })).toEqual(changed);
    expect(textOf(await subject.user.look('file'))).toBe(left);
  });

  test('a rename onto a file that is written to meanwhile changes neither', async () => {
    const { subject, arm } = await openWithRace();
    const expectedFrom = await doOne(subject, writeRequest(subject, 'from', 'from'));
    const expected = await doOne(subject, writeRequest(subject, 'to', 'to'));
    arm('rename', () => appendFileSync(join(subject.root, 'to'), ', edited'));
    expect(await tryOne(subject, { do: 'rename', from: 'from', to: 'to', expectedFrom, expected })).toEqual(changed);
    expect(textOf(await subject.user.look('from'))).toBe('from');
    expect(textOf(await subject.user.look('to'))).toBe('to, edited');
  });

  describe('[MT4] another thread adds the replaced version to history meanwhile', () => {
    /** Adds an independent copy to history, as `keep` does for a conflict. */
    function keepAgain(root: string): void {
      const copy = join(root, '.lockstep/staging/copy');
      writeFileSync(copy, keepOld, { mode: 0o600 });
      renameSync(copy, historyFile(root));
    }

    function historyFile(root: string): string {
      const history = join(root, '.lockstep/history');
      const [name] = readdirSync(history, { recursive: true, encoding: 'utf8' }).filter((each) => each.includes('/'));
      return join(history, name ?? 'nothing');
    }

    async function replaceWhile(happen: (root: string) => void) {
      const { subject, arm } = await openWithRace();
      const expected = await doOne(subject, writeRequest(subject, 'file', keepOld));
      const keep = subject.identify(bytesOf(keepOld)).content;
      arm('rename', () => happen(subject.root));
      const result = await tryOne(subject, writeRequest(subject, 'file', 'mine', { expected, keep }));
      return { subject, keep, expected, result };
    }

    test('the file is still replaced', async () => {
      const { subject, keep, result } = await replaceWhile(keepAgain);
      expect(result).toMatchObject({ result: 'done' });
      expect(textOf(await subject.user.look('file'))).toBe('mine');
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
      expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
    });

    test('an edit by a user at that moment is kept', async () => {
      const { subject, keep, expected, result } = await replaceWhile((root) => {
        keepAgain(root);
        appendFileSync(join(root, 'file'), ', appended');
      });
      expect(result).toEqual(changed);
      expect(textOf(await subject.user.look('file'))).toBe(`${keepOld}, appended`);
      expect(await fingerprintAt(subject, 'file')).toMatchObject({ ino: expected.ino, mode: expected.mode });
      expect(readFileSync(historyFile(subject.root), 'utf8')).toBe(keepOld);
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
      expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
    });
  });

  test('a directory that gets a new entry meanwhile is not renamed', async () => {
    const { subject, arm } = await openWithRace();
    await subject.user.mkdir('old');
    const found = await observeOne(subject, 'old');
    if (found.state !== 'directory') throw new Error('no directory');
    arm('check', () => writeFileSync(join(subject.root, 'old/new file'), 'x'));
    const rename = { do: 'rename-directory', from: 'old', to: 'new', names: [], mode: 0o755 } as const;
    expect(await tryOne(subject, { ...rename, expectedFrom: found.fingerprint })).toEqual(changed);
    expect(await subject.user.look('old/new file')).toBeDefined();
  });
});

// Simulator, seed 221936: its mode counted as all that the file system could keep of the operation's.
describe('a user replaces what was just renamed', () => {
  test('the file that they put there has its own mode, not the one of the operation', async () => {
    const { subject, arm } = await openWithRace();
    const expectedFrom = await doOne(subject, writeRequest(subject, 'from', 'old'));
    arm('attributes', () => {
      writeFileSync(join(subject.root, 'theirs'), 'new', { mode: 0o644 });
      renameSync(join(subject.root, 'theirs'), join(subject.root, 'to'));
    });
    const attributes = { mode: 0o755, mtimeUs: 1_000_000 };
    const rename = { do: 'rename', from: 'from', to: 'to', expectedFrom, expected: 'absent', ...attributes } as const;
    const { fingerprint } = await resultOf(subject, rename);
    expect(fingerprint).toEqual({ ...expectedFrom, mode: 0o100755, mtimeMs: 1_000 });
    expect(expectedFrom.mode).toBe((await fingerprintAt(subject, 'to')).mode);
  });

  test('so has the directory', async () => {
    const { subject, arm } = await openWithRace();
    await subject.user.mkdir('old');
    const expectedFrom = await fingerprintAt(subject, 'old');
    arm('attributes', () => {
      renameSync(join(subject.root, 'new'), join(subject.root, 'elsewhere'));
      mkdirSync(join(subject.root, 'new'));
    });
    const rename = { do: 'rename-directory', from: 'old', to: 'new', names: [], mode: 0o700, expectedFrom } as const;
    const { fingerprint } = await resultOf(subject, rename);
    expect(fingerprint).toEqual({ ...expectedFrom, mode: 0o040700 });
    expect(expectedFrom.mode).toBe((await fingerprintAt(subject, 'new')).mode);
  });

  async function resultOf(subject: DiskSubject, action: Action) {
    const result = await tryOne(subject, action);
    if (result.result !== 'done') throw new Error(JSON.stringify(result));
    return result;
  }
});

describe('SIGKILL before a step of apply', () => {
  /** Two of each kind, so that a fault can occur between the first and the second. */
  const script = `
    const folder = await openHere();
    await folder.apply([${writeInScript('replaced', 'old')}, ${writeInScript('removed', 'gone')},
      ${writeInScript('moved', 'moved')}, ${writeInScript('attr', 'attr')}]);
    const prints = (await folder.observe(['replaced', 'removed', 'moved', 'attr'].map((path) => ({ path })))).map((o) => o.fingerprint);
    const old = hashBytes(new TextEncoder().encode('old')).content;
    const results = await folder.apply([
      ${writeInScript('new', 'new')},
      { ...${writeInScript('replaced', 'new version', 'expected: prints[0]')}, keep: old },
      { action: { do: 'unlink', path: 'removed', expected: prints[1] }, keep: hashBytes(new TextEncoder().encode('gone')).content },
      { action: { do: 'rename', from: 'moved', to: 'there', expectedFrom: prints[2], expected: 'absent' } },
      { action: { do: 'mkdir', path: 'd', expected: 'absent', mode: 0o755 } },
      ${writeInScript('d/file', 'below')},
      { action: { do: 'attr', path: 'attr', expected: prints[3], mode: 0o600 } },
    ]);
    answer(results.map((r) => r.result));
    await folder.close();`;

  /** The number of each step in the first apply of the script, which is not the one to be killed. */
  const before: Partial<Record<ApplyStep, number>> = { stage: 4, fsync: 4, check: 4, rename: 4, 'fsync-directory': 1 };
  const within: Record<ApplyStep, number> = {
    stage: 3,
    fsync: 3,
    check: 7,
    keep: 1,
    rename: 5,
    attributes: 2,
    remove: 1,
    'fsync-directory': 1,
  };
  const cases = applySteps.flatMap((step) =>
    [1, within[step]].filter((nth, index, all) => all.indexOf(nth) === index).map((nth) => ({ step, nth })),
  );

  test.each(cases)('$step, number $nth: every file is complete, old or new', async ({ step, nth }) => {
    root = mkdtempSync(join(tmpdir(), 'lockstep-killed-'));
    mkdirSync(join(root, '.lockstep'));
    const env = { LOCKSTEP_FAULT: `kill:${step}:${(before[step] ?? 0) + nth}` };
    const outcome = await runInChild({ root, script, env });
    expect(outcome).toMatchObject({ errors: '', signal: 'SIGKILL' });
    const found: Record<string, string> = {};
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(root.length + 1);
      if (entry.isFile() && !path.startsWith('.lockstep')) found[path] = readFileSync(join(root, path), 'utf8');
    }
    expect(['old', 'new version']).toContain(found.replaced);
    expect([undefined, 'new']).toContain(found.new);
    expect([undefined, 'below']).toContain(found['d/file']);
    expect(found.attr).toBe('attr');
    expect([found.moved, found.there].filter((text) => text !== undefined)).toEqual(['moved']);
    // A version that left the folder is in history.
    const kept = readdirSync(join(root, '.lockstep/history'), { recursive: true, withFileTypes: true });
    const history = kept
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    if (found.replaced !== 'old') expect(history).toContain('old');
    if (found.removed === undefined) expect(history).toContain('gone');
    else expect(found.removed).toBe('gone');
    // A restarted agent clears staging and can execute the same actions again.
    await using again = await openFolder({
      root,
      stateDirectory: join(root, '.lockstep'),
      memberName: 'ant',
      log: silentLog,
    });
    expect(await again.health()).toMatchObject({ ok: true });
    expect(readdirSync(join(root, '.lockstep/staging'))).toEqual([]);
  });

  test('the table above has the right number of each step', async () => {
    const counts: Partial<Record<ApplyStep, number>> = {};
    subject = await openDiskSubject({
      faultPoint: (step) => {
        counts[step] = (counts[step] ?? 0) + 1;
      },
    });
    const { folder } = subject;
    const names = ['replaced', 'removed', 'moved', 'attr'];
    await folder.apply(names.map((path) => writeRequest(subject as DiskSubject, path, path)));
    expect(counts).toEqual(before);
    const prints = (await folder.observe(names.map((path) => ({ path })))).map((seen) =>
      'fingerprint' in seen ? seen.fingerprint : undefined,
    );
    const [replaced, removed, moved, attr] = prints;
    if (!replaced || !removed || !moved || !attr) throw new Error('no fingerprints');
    for (const step of applySteps) delete counts[step];
    const requests: ActionRequest[] = [
      writeRequest(subject, 'new', 'new'),
      writeRequest(subject, 'replaced', 'new version', { expected: replaced }),
      { action: { do: 'unlink', path: 'removed', expected: removed } },
      { action: { do: 'rename', from: 'moved', to: 'there', expectedFrom: moved, expected: 'absent' } },
      { action: { do: 'mkdir', path: 'd', expected: 'absent', mode: 0o755 } },
      writeRequest(subject, 'd/file', 'below'),
      { action: { do: 'attr', path: 'attr', expected: attr, mode: 0o600 } },
    ];
    expect((await folder.apply(requests)).map(({ result }) => result)).toEqual(requests.map(() => 'done'));
    expect(counts).toEqual(within);
  });
});

test('LOCKSTEP_FAULT=hold waits while the file exists', async () => {
  root = mkdtempSync(join(tmpdir(), 'lockstep-held-'));
  mkdirSync(join(root, '.lockstep'));
  const holding = join(root, '.lockstep/hold');
  writeFileSync(holding, '');
  const outcome = await runInChild({
    root,
    env: { LOCKSTEP_FAULT: `hold:rename:${holding}` },
    script: `
      const folder = await openHere();
      const done = folder.apply([${writeInScript('file', 'x')}]);
      const staging = root + '/.lockstep/staging';
      while (fs.readdirSync(staging).length === 0) await new Promise((resolve) => setImmediate(resolve));
      const before = fs.existsSync(root + '/file');
      fs.rmSync(${JSON.stringify(holding)});
      answer({ before, after: (await done)[0].result });
      await folder.close();`,
  });
  expect(outcome).toMatchObject({ errors: '', answer: { before: false, after: 'done' } });
});

test.each(['kill:nothing', 'explode:stage', 'hold:stage'])('LOCKSTEP_FAULT=%s is refused', (setting) => {
  expect(() => faultFromEnvironment(setting)).toThrow('LOCKSTEP_FAULT');
});

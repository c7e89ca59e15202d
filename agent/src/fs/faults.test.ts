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
import type { ActionRequest } from '../sync/ports/folder.ts';
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

/** A folder where somebody does something before one step of the first apply that reaches it, once `arm` was called. */
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

describe('[MT4] somebody else is at work between the look and the rename', () => {
  const keepOld = 'old version';
  const edits: [string, (absolute: string) => void, string][] = [
    ['appends to it', (absolute) => appendFileSync(absolute, ', appended'), 'old version, appended'],
    ['writes it anew in place', (absolute) => writeFileSync(absolute, 'their edit!'), 'their edit!'],
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
      // Who replaces the file in the microseconds after the second name was taken is not seen (docs/GUARANTEES.md).
      .filter((step) => step !== 'rename' || what !== 'saves it by rename')
      .map((step) => ({ what, edit, left, step })),
  );

  test.each(cases)('a user $what before `$step`: the edit stays', async ({ edit, left, step }) => {
    const { subject, arm } = await openWithRace();
    const expected = await doOne(subject, writeRequest(subject, 'file', keepOld));
    const keep = subject.identify(bytesOf(keepOld)).content;
    arm(step, () => edit(join(subject.root, 'file')));
    expect(await tryOne(subject, writeRequest(subject, 'file', 'mine', { expected, keep }))).toEqual(changed);
    expect(textOf(await subject.user.look('file'))).toBe(left);
    expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
    expect(await subject.folder.inHistory([keep])).toEqual(new Set());
  });

  test.each(['check', 'rename'] as const)('a user makes the file before `%s`: theirs stays', async (step) => {
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

  test('a rename onto a file that is written to meanwhile leaves both as they are', async () => {
    const { subject, arm } = await openWithRace();
    const expectedFrom = await doOne(subject, writeRequest(subject, 'from', 'from'));
    const expected = await doOne(subject, writeRequest(subject, 'to', 'to'));
    arm('rename', () => appendFileSync(join(subject.root, 'to'), ', edited'));
    expect(await tryOne(subject, { do: 'rename', from: 'from', to: 'to', expectedFrom, expected })).toEqual(changed);
    expect(textOf(await subject.user.look('from'))).toBe('from');
    expect(textOf(await subject.user.look('to'))).toBe('to, edited');
  });

  describe('[MT4] another thread that keeps the replaced version in history meanwhile', () => {
    /** As `keep` does for a conflict: an independent copy takes the name in history. */
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

    test('does not keep it from being replaced', async () => {
      const { subject, keep, result } = await replaceWhile(keepAgain);
      expect(result).toMatchObject({ result: 'done' });
      expect(textOf(await subject.user.look('file'))).toBe('mine');
      expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
      expect(readdirSync(join(subject.root, '.lockstep/staging'))).toEqual([]);
    });

    test('does not take the place of what a user wrote in that moment', async () => {
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

  test('a directory that something is put into is not renamed', async () => {
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

describe('SIGKILL before a step of apply', () => {
  /** Two of each kind, so that a fault can come between the first and the second. */
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

  /** How often each step comes in the first apply of the script, which is not the one to be killed. */
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

  test.each(cases)('$step, number $nth: every file is whole, old or new', async ({ step, nth }) => {
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
    // A version that is no longer in the folder is in history.
    const kept = readdirSync(join(root, '.lockstep/history'), { recursive: true, withFileTypes: true });
    const history = kept
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    if (found.replaced !== 'old') expect(history).toContain('old');
    if (found.removed === undefined) expect(history).toContain('gone');
    else expect(found.removed).toBe('gone');
    // Who begins anew clears what was staged, and can do the same again.
    await using again = await openFolder({
      root,
      stateDirectory: join(root, '.lockstep'),
      memberName: 'ant',
      log: silentLog,
    });
    expect(await again.health()).toMatchObject({ ok: true });
    expect(readdirSync(join(root, '.lockstep/staging'))).toEqual([]);
  });

  test('the table above names each step as often as it comes', async () => {
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

test('LOCKSTEP_FAULT=hold waits while the file is there', async () => {
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

import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runInChild, writeInScript } from './in-child.contract.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lockstep-hostile-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** Root may do everything: a refusal only occurs as another user. */
const asNobody = isRoot ? ['setpriv', '--reuid', `${nobody}`, '--regid', `${nobody}`, '--clear-groups'] : [];

function forNobody(...paths: string[]): void {
  if (isRoot) for (const path of paths) chownSync(path, nobody, nobody);
}

test('[WT6] [WT20] while too many files are open the health says so, and it is unknown which mounts there are', async () => {
  mkdirSync(join(root, '.lockstep'));
  const outcome = await runInChild({
    root,
    wrapper: ['prlimit', '--nofile=128'],
    script: `
      const folder = await openHere();
      const said = () => folder.checkMounts().then((changed) => changed.length, (error) => String(error).includes('EMFILE') && 'unknown');
      const before = await said();
      const opened = [];
      try {
        for (;;) opened.push(fs.openSync('/dev/null'));
      } catch {}
      const meanwhile = await said();
      const { ok, detail } = await folder.health();
      for (const fd of opened) fs.closeSync(fd);
      answer([before, meanwhile, ok, detail.includes('too many files are open'), await said(), (await folder.health()).ok]);
      await folder.close();`,
  });
  expect(outcome).toMatchObject({ errors: '', answer: [0, 'unknown', false, true, 0, true] });
});

describe('[MT10] without permission', () => {
  test.runIf(isRoot)("another user's directory is a problem of each entry that belongs there", async () => {
    for (const path of ['.lockstep', 'closed', 'open']) mkdirSync(join(root, path));
    writeFileSync(join(root, 'closed/file'), 'x');
    forNobody(root, ...['.lockstep', 'closed/file', 'open'].map((path) => join(root, path)));
    const outcome = await runInChild({
      root,
      wrapper: asNobody,
      script: `
        const folder = await openHere();
        const [seen] = await folder.observe([{ path: 'closed/file' }]);
        const results = await folder.apply([
          ${writeInScript('closed/new', 'x')}, ${writeInScript('open/new', 'x')},
          { action: { do: 'mkdir', path: 'closed/d', expected: 'absent', mode: 0o755 } },
          { action: { do: 'unlink', path: 'closed/file', expected: seen.fingerprint } },
        ]);
        const staging = fs.readdirSync(root + '/.lockstep/staging');
        answer({ results: results.map((r) => r.code ?? r.result), staging, health: (await folder.health()).ok });
        await folder.close();`,
    });
    const refused = 'path-permission';
    const results = [refused, 'done', refused, refused];
    expect(outcome).toMatchObject({ errors: '', answer: { results, staging: [], health: true } });
  });

  test('[MT19] entries in a directory of our own are changed even if it is read-only', async () => {
    for (const path of ['.lockstep', 'theirs']) mkdirSync(join(root, path));
    for (const name of ['gone', 'moved']) writeFileSync(join(root, 'theirs', name), 'x');
    forNobody(root, ...['.lockstep', 'theirs', 'theirs/gone', 'theirs/moved'].map((path) => join(root, path)));
    const outcome = await runInChild({
      root,
      wrapper: asNobody,
      script: `
        fs.chmodSync(root + '/theirs', 0o555);
        const folder = await openHere();
        const results = [];
        const apply = async (...requests) => results.push(...await folder.apply(requests));
        const fingerprint = async (path) => (await folder.observe([{ path }]))[0].fingerprint;
        await apply({ action: { do: 'mkdir', path: 'made', expected: 'absent', mode: 0o555 } },
          ${writeInScript('made/a', 'x')}, { action: { do: 'mkdir', path: 'theirs/d', expected: 'absent', mode: 0o500 } });
        await apply({ action: { do: 'unlink', path: 'theirs/gone', expected: await fingerprint('theirs/gone') } },
          { action: { do: 'rename', from: 'theirs/moved', to: 'made/moved',
            expectedFrom: await fingerprint('theirs/moved'), expected: 'absent' } });
        await apply({ action: { do: 'rename-directory', from: 'theirs/d', to: 'made/d',
          expectedFrom: await fingerprint('theirs/d'), names: [], mode: 0o500 } });
        const mode = (path) => (fs.lstatSync(root + path).mode & 0o777).toString(8);
        const modes = ['/made', '/theirs', '/made/d'].map(mode);
        const names = [fs.readdirSync(root + '/made'), fs.readdirSync(root + '/theirs')];
        fs.chmodSync(root, 0o555);
        await apply(${writeInScript('late', 'x')}, ${writeInScript('made/late', 'x')});
        answer({ results: results.map((r) => r.code ?? r.result), modes, names, root: mode('') });
        for (const path of ['', '/made', '/theirs']) fs.chmodSync(root + path, 0o755);
        await folder.close();`,
    });
    const done = 'done';
    expect(outcome).toMatchObject({
      errors: '',
      answer: {
        // The user who made the folder itself read-only made it so for the agent too.
        results: [done, done, done, done, done, done, 'path-permission', done],
        modes: ['555', '555', '500'],
        names: [['a', 'd', 'moved'], []],
        root: '555',
      },
    });
  });

  test('[WT4] an unreadable directory is a problem, not a limit of watches, and nothing in it counts as deleted', async () => {
    for (const path of ['.lockstep', 'secret', 'names-only']) mkdirSync(join(root, path));
    for (const path of ['file', 'secret/file', 'names-only/file']) writeFileSync(join(root, path), 'x');
    forNobody(root, ...['.lockstep', 'secret', 'names-only', 'file'].map((path) => join(root, path)));
    const outcome = await runInChild({
      root,
      wrapper: asNobody,
      script: `
        const folder = await openHere();
        fs.chmodSync(root + '/secret', 0);
        fs.chmodSync(root + '/names-only', 0o444);
        fs.chmodSync(root + '/file', 0);
        const seen = await folder.observe(['file', 'secret/file', 'names-only/file'].map((path) => ({ path })));
        const scanned = [];
        await folder.watch(() => {});
        for await (const chunk of folder.scan('', { recursive: true, skip: () => false })) scanned.push(...chunk);
        answer({ seen: seen.map((o) => o.code ?? o.state),
          scanned: scanned.map((s) => [s.path, s.problem?.code ?? 'fine', s.absent ?? false]).sort(),
          closed: folder.unwatched().map(({ path, closed }) => closed && path) });
        for (const name of ['secret', 'names-only']) fs.chmodSync(root + '/' + name, 0o755);
        await folder.close();`,
    });
    const refused = 'path-permission';
    const scanned = [
      ['', 'fine', false],
      ['names-only', refused, false],
      ['secret', refused, false],
    ];
    expect(outcome).toMatchObject({
      errors: '',
      answer: { seen: [refused, refused, refused], scanned, closed: ['secret'] },
    });
  });

  test.runIf(isRoot)('the replaced version is copied if link(2) is refused', async () => {
    mkdirSync(join(root, '.lockstep'));
    // Another user's file in our directory: it may be replaced, but the kernel refuses to link it.
    writeFileSync(join(root, 'theirs'), 'old', { mode: 0o644 });
    forNobody(root, join(root, '.lockstep'));
    const outcome = await runInChild({
      root,
      wrapper: asNobody,
      script: `
        const folder = await openHere();
        const [seen] = await folder.observe([{ path: 'theirs' }]);
        const [result] = await folder.apply([{ ...${writeInScript('theirs', 'new', 'expected: seen.fingerprint')}, keep: seen.content }]);
        const kept = [...await folder.inHistory([seen.content])].length;
        answer({ result: result.result, kept, text: fs.readFileSync(root + '/theirs', 'utf8') });
        await folder.close();`,
    });
    expect(outcome).toMatchObject({ errors: '', answer: { result: 'done', kept: 1, text: 'new' } });
  });
});

/** A small file system in its own mount namespace, which ends with the child. */
function onSmallDisk(sizeMib: number): string[] {
  const mount = `mount -t tmpfs -o size=${sizeMib}m,mode=755 tmpfs "$0" && mkdir "$0/.lockstep" && exec "$@"`;
  return ['unshare', '-Urm', 'sh', '-c', mount];
}

test('a full disk is a problem, and leaves no partial or staged file', async () => {
  const outcome = await runInChild({
    root,
    wrapper: [...onSmallDisk(20), root],
    // 16 of the 20 MiB are reserved: four files of 1 MiB fit, the fifth does not.
    script: `
      const folder = await openHere();
      const write = (path, fill) => {
        const bytes = new Uint8Array(1048576).fill(fill);
        return { action: { do: 'write', path, expected: 'absent', ...hashBytes(bytes), size: bytes.length,
          mode: 0o644, mtimeUs: 1, source: { from: 'bytes', bytes } } };
      };
      const results = await folder.apply(['a', 'b', 'c', 'd', 'e'].map(write));
      const block = new Uint8Array(1048576).fill(9);
      const staged = await folder.stageBlock({ path: 'file', ...hashBytes(block), size: block.length, index: 0, bytes: block });
      // A user fills even the reserve: then the disk itself refuses.
      let full = 0;
      try { fs.writeFileSync(root + '/user', Buffer.alloc(17 * 1048576)); } catch { full = fs.statSync(root + '/user').size; }
      const [last] = await folder.apply([write('f', 6)]);
      fs.rmSync(root + '/user');
      fs.rmSync(root + '/a');
      const [after] = await folder.apply([write('f', 6)]);
      const files = fs.readdirSync(root).sort();
      answer({ results: results.map((r) => r.code ?? r.result), staged, last: last.code, after: after.result, files,
        staging: fs.readdirSync(root + '/.lockstep/staging').length });
      await folder.close();`,
  });
  const results = ['done', 'done', 'done', 'done', 'disk-full'];
  expect(outcome).toMatchObject({
    errors: '',
    answer: { results, staged: 'disk-full', last: 'disk-full', after: 'done', staging: 0 },
  });
  expect(outcome.answer).toMatchObject({ files: ['.lockstep', 'b', 'c', 'd', 'f'] });
});

test('[WT6] an unmounted disk is a missing folder, not an empty one', async () => {
  const outcome = await runInChild({
    root,
    wrapper: [...onSmallDisk(20), root],
    script: `
      const { execFileSync } = await import('node:child_process');
      const folder = await openHere();
      fs.writeFileSync(root + '/file', 'x');
      const [before] = await folder.observe([{ path: 'file' }]);
      execFileSync('umount', [root]);
      const [after] = await folder.observe([{ path: 'file', expected: before.fingerprint }]);
      answer({ before: before.state, after: after.code, health: (await folder.health()).ok });
      await folder.close();`,
  });
  expect(outcome).toMatchObject({ errors: '', answer: { before: 'file', after: 'folder-missing', health: false } });
});

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, open, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operationsPageSchema } from '@lockstep/shared/api';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { mountAt, unmount } from '../../testkit/mount.ts';
import { git, shell } from '../../testkit/programs.ts';
import { namesOf, readTree, subtree } from '../../testkit/tree.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';
import { sqlitePackage } from '../src/os/sqlite.ts';
import { firstDifference } from './support/random-files.ts';

const cluster = useCluster(['ant', 'bee']);
const ant = (): Member => cluster().member('ant');
const bee = (): Member => cluster().member('bee');

let root: string;
let point: string;
const started: ChildProcess[] = [];
/** The kernel asks again after a second, and a busy machine takes longer. */
const patience = { timeout: 30_000 };

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lockstep-mounts-'));
  point = join(root, 'point');
  mkdirSync(point);
});
afterEach(async () => {
  for (const process of started.splice(0)) await unmount(process);
});
afterAll(async () => {
  await shell(root, `fusermount3 -uz ${point} 2>/dev/null || true`);
  rmSync(root, { recursive: true, force: true });
});

/** Mounts ant's folder until the end of the test. */
async function mount(): Promise<ChildProcess> {
  const mounted = await mountAt(point, ant());
  started.push(mounted);
  return mounted;
}

const isMounted = (): boolean => readFileSync('/proc/self/mounts', 'utf8').includes(` ${point} fuse.lockstep `);

describe('programs in a mount', () => {
  test('[FM1] it is mounted, used and unmounted', async () => {
    const mounted = await mount();
    await writeFile(join(point, 'hello'), 'from the mount');
    expect(await readFile(join(ant().folder, 'hello'), 'utf8')).toBe('from the mount');
    await cluster().settled();
    await writeFile(join(bee().folder, 'hello'), 'from bee');
    await expect.poll(() => readFile(join(point, 'hello'), 'utf8'), patience).toBe('from bee');
    expect(await unmount(mounted)).toBe(0);
    expect(isMounted()).toBe(false);
    expect(readdirSync(point)).toEqual([]);
    expect(readdirSync(join(ant().folder, '.lockstep/mount'))).toEqual([]);
  });

  test('[FM2] other members get a file that is written slowly as one version', async () => {
    await mount();
    const file = await open(join(point, 'slow'), 'w');
    for (let part = 0; part < 5; part++) {
      await file.write('part\n');
      // Something else is replicated meanwhile, so that time has passed for all loops.
      await writeFile(join(point, `other-${part}`), '');
      await cluster().settled();
      expect(readdirSync(bee().folder)).not.toContain('slow');
    }
    await file.close();
    await cluster().settled();
    expect(readFileSync(join(bee().folder, 'slow'), 'utf8')).toBe('part\n'.repeat(5));
    const { operations } = operationsPageSchema.parse(await ant().get('/ops?path=slow'));
    expect(operations.map(({ kind }) => kind)).toEqual(['put']);
  });

  test('[FM6] git, tar, rsync, cp, sed and an editor that saves by rename', async () => {
    await mount();
    const source = join(root, 'source');
    mkdirSync(join(source, 'd/e'), { recursive: true });
    for (let file = 0; file < 60; file++) {
      writeFileSync(join(source, file % 2 === 0 ? 'd' : 'd/e', `f${file}`), `${file}\n`.repeat(file * 20));
    }
    await shell(source, 'ln -s d/e link; echo "#!/bin/sh" > run; chmod 755 run');
    await git(source, 'init', '--quiet');
    await git(source, 'add', '.');
    await git(source, 'commit', '--quiet', '-m', 'first');
    await git(point, 'clone', '--quiet', source, 'clone');
    expect(await git(join(point, 'clone'), 'status', '--porcelain')).toBe('');
    await git(join(point, 'clone'), 'fsck', '--strict');
    await shell(
      point,
      `rsync -a ${source}/ rsynced/; test -z "$(rsync -ani ${source}/ rsynced/)"
       tar cf all.tar -C ${source} . ; mkdir tarred; tar xf all.tar -C tarred
       cp -r ${source} copied
       sed -i s/1/one/ copied/d/f10; echo edited > copied/new~; mv copied/new~ copied/run`,
    );
    const tree = await cluster().settled();
    // The library drops a change of the time of modification alone, as tar makes it.
    const names = namesOf(readTree(source));
    for (const made of ['rsynced', 'tarred']) expect(namesOf(subtree(tree, made)), made).toEqual(names);
    await shell(point, `diff -r ${source} tarred; test "$(cat copied/run)" = edited; test -x rsynced/run`);
    await shell(bee().folder, `diff -r ${source} tarred`);
  });

  test('[FM6] a time before 1970 reaches the folders as it was set, and is shown as that of 1970', async () => {
    await mount();
    await shell(point, "echo x > old; touch -d '1960-02-03 04:05:06Z' old");
    const timeMs = Date.UTC(1960, 1, 3, 4, 5, 6);
    await cluster().settled();
    const folders = [bee().folder, ant().folder];
    expect(folders.map((folder) => statSync(join(folder, 'old')).mtimeMs)).toEqual([timeMs, timeMs]);
    expect(statSync(join(point, 'old')).mtimeMs).toBe(0);
  });

  test('[FM6] a database, with both kinds of journal and two programs at once', async () => {
    await mount();
    const program = join(root, 'insert.cjs');
    const library = createRequire(import.meta.url).resolve(sqlitePackage);
    await writeFile(
      program,
      `const [, , path, mode, from] = process.argv;
       const db = require(${JSON.stringify(library)})(path, { timeout: 20000 });
       if (mode !== 'check') {
         db.pragma('journal_mode = ' + mode);
         db.exec('create table if not exists t (a)');
         const insert = db.prepare('insert into t values (?)');
         for (let index = 0; index < 20; index++) insert.run(Number(from) + index);
       }
       console.log(db.pragma('integrity_check', { simple: true }), db.prepare('select count(*) from t').pluck().get());
       db.close();`,
    );
    const run = `"${process.execPath}" ${program}`;
    await shell(
      point,
      `for mode in delete wal; do
         ${run} $mode.db $mode 0 > /dev/null
         ${run} $mode.db $mode 100 > /dev/null & first=$!
         ${run} $mode.db $mode 200 > /dev/null
         wait $first
         test "$(${run} $mode.db check)" = 'ok 60'
       done`,
    );
    await cluster().settled();
    expect(await shell(bee().folder, `${run} delete.db check`)).toBe('ok 60\n');
  });

  test('[FM6] npm install of a local package', async () => {
    await mount();
    await shell(
      point,
      `mkdir -p dependency project
       echo '{"name":"dependency","version":"1.0.0"}' > dependency/package.json; echo 'module.exports = 5' > dependency/index.js
       cd project; echo '{"name":"project","version":"1.0.0"}' > package.json
       npm install --silent --no-audit --no-fund --offline "$(npm pack --silent --pack-destination . ../dependency)"
       test "$(node -p 'require("dependency")')" = 5`,
    );
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('[FM6] random steps as in a local directory: seed %i', async (seed) => {
    if (!isMounted()) await mount();
    const [local, inMount] = [join(root, `local-${seed}`), join(point, `random-${seed}`)];
    mkdirSync(local);
    mkdirSync(inMount);
    expect(firstDifference(local, inMount, seed, 400)).toBe(undefined);
  });

  test('[FM4] a file that is removed while it is open, and one that is replaced', async () => {
    await mount();
    await writeFile(join(point, 'gone'), 'bytes');
    const file = await open(join(point, 'gone'), 'r+');
    await shell(point, 'rm gone');
    await file.write('B', 0);
    expect((await file.read(Buffer.alloc(5), 0, 5, 0)).buffer.toString()).toBe('Bytes');
    expect((await file.stat()).size).toBe(5);
    await file.close();
    expect(readdirSync(point).filter((name) => /gone|fuse_hidden/.test(name))).toEqual([]);
    await shell(point, 'echo old > kept; exec 3< kept; echo new > kept~; mv kept~ kept; test "$(cat <&3)" = old');
    expect(await readFile(join(point, 'kept'), 'utf8')).toBe('new\n');
    const kept = await open(join(point, 'kept'), 'r');
    await writeFile(join(point, 'vanishing'), 'new');
    await stat(join(point, 'vanishing'));
    // The kernel does not know of that for a second.
    await rm(join(ant().folder, 'vanishing'));
    await expect(rename(join(point, 'vanishing'), join(point, 'kept'))).rejects.toThrow('ENOENT');
    await kept.close();
    expect(await readFile(join(ant().folder, 'kept'), 'utf8')).toBe('new\n');
    await cluster().settled();
    expect(readdirSync(bee().folder).filter((name) => /fuse_hidden/.test(name))).toEqual([]);
  });

  test('[FM4] a directory is removed only when no program has a file of it open', async () => {
    await mount();
    await mkdir(join(point, 'used'));
    await writeFile(join(point, 'used/file'), 'bytes');
    const file = await open(join(point, 'used/file'), 'r');
    await expect(rm(join(point, 'used'), { recursive: true })).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect((await file.read(Buffer.alloc(5), 0, 5, 0)).buffer.toString()).toBe('bytes');
    expect((await file.stat()).size).toBe(5);
    await file.close();
    // The library closes it a moment later.
    await eventually(() => rmdir(join(point, 'used')));
    const draft = await open(join(point, 'draft'), 'w');
    await draft.close();
  });
});

describe('bad input', () => {
  const refused = async (at: string): Promise<string> => {
    const { code, err } = await lockstep(['mount', ant().folder, at]);
    expect(code).toBe(1);
    return err;
  };

  test('[FM1] a mount point that cannot be used', async () => {
    mkdirSync(join(root, 'full/entry'), { recursive: true });
    mkdirSync(join(ant().folder, 'inside'));
    expect(await refused(join(root, 'missing'))).toMatch(/does not exist\. Make it: mkdir -p/);
    expect(await refused(join(root, 'full'))).toContain('is not empty: it has entry. Choose an empty directory.');
    expect(await refused(join(ant().folder, 'inside'))).toContain('lies inside the folder');
    await mount();
    expect(await refused(point)).toContain('is mounted at');
    const { code, err } = await lockstep(['mount'], { cwd: ant().folder });
    expect([code, err]).toEqual([2, expect.stringContaining('Name the mount point: lockstep mount [DIR] MOUNTPOINT')]);
  });

  test('[FM5] the state directory cannot be reached, and names that cannot be replicated cannot be made', async () => {
    await mount();
    expect(readdirSync(point)).not.toContain('.lockstep');
    await expect(readFile(join(point, '.lockstep/cluster.key'))).rejects.toThrow('ENOENT');
    await expect(writeFile(join(point, '.lockstep/x'), '')).rejects.toThrow('ENOENT');
    await expect(writeFile(join(point, '.Lockstep'), '')).rejects.toThrow('EACCES');
    await expect(writeFile(Buffer.concat([Buffer.from(join(point, 'caf')), Buffer.of(0xe9)]), '')).rejects.toThrow(
      'EILSEQ',
    );
    await expect(shell(point, 'mkfifo pipe')).rejects.toThrow();
    await expect(shell(point, 'echo 1 > one; ln one two')).rejects.toThrow();
  });

  test('[FM7] without an agent there is no mount, and one that ends stops it until it is back', async () => {
    await mount();
    await writeFile(join(point, 'before'), 'here');
    await cluster().settled();
    await ant().stop();
    expect((await lockstep(['mount', ant().folder, join(root, 'full')])).err).toMatch(/No agent runs on .*lockstep up/);
    await expect.poll(() => stat(join(point, 'before')).then(String, ({ code }) => code), patience).toBe('EIO');
    await expect(appendFile(join(point, 'before'), 'x')).rejects.toThrow('EIO');
    await ant().start();
    await expect.poll(() => readFile(join(point, 'before'), 'utf8').catch(({ code }) => code), patience).toBe('here');
  });

  test('[FM2] [FM7] a file is not published half if its agent ends while a program writes it', async () => {
    await mount();
    await writeFile(join(point, 'whole'), 'all of it');
    await cluster().settled();
    const written = await open(join(point, 'whole'), 'w');
    await written.write('the first half, ');
    await ant().stop();
    const next = (): Promise<string> => written.write('the second half').then(String, ({ code }) => code);
    await expect.poll(next, patience).toBe('EIO');
    await expect(written.close()).rejects.toThrow('EIO');
    await ant().start();
    await expect
      .poll(() => readFile(join(point, 'whole'), 'utf8').catch(({ code }) => code), patience)
      .toBe('all of it');
    expect(await readFile(join(ant().folder, 'whole'), 'utf8')).toBe('all of it');
  });

  test('[FM8] a mount whose process is killed is gone, or removed at the next start, with its drafts', async () => {
    const killed = await mount();
    const file = await open(join(point, 'unfinished'), 'w');
    await file.write('draft');
    killed.kill('SIGKILL');
    await once(killed, 'close');
    await file.close().catch(() => undefined);
    await mount();
    expect(readdirSync(point)).not.toContain('unfinished');
    expect(readdirSync(join(ant().folder, '.lockstep/mount'))).toHaveLength(1);
    expect(statSync(join(ant().folder, '.lockstep/mount')).mode & 0o777).toBe(0o700);
  });

  test('[FM8] a dead mount is removed at the next start', async () => {
    const killed = await mount();
    // Its child would unmount it.
    const children = readFileSync(`/proc/${killed.pid}/task/${killed.pid}/children`, 'utf8').trim().split(' ');
    for (const child of children) process.kill(Number(child), 'SIGKILL');
    killed.kill('SIGKILL');
    await once(killed, 'close');
    expect(isMounted()).toBe(true);
    await expect(stat(point)).rejects.toThrow('ENOTCONN');
    await mount();
    expect(readdirSync(point)).toEqual(namesOf(readTree(ant().folder)).filter((name) => !name.includes('/')));
  });

  test('[FM8] SIGINT publishes what is open', async () => {
    const mounted = await mount();
    const file = await open(join(point, 'open'), 'w');
    await file.write('as far as it came');
    mounted.kill('SIGINT');
    await once(mounted, 'close');
    await file.close().catch(() => undefined);
    expect(readFileSync(join(ant().folder, 'open'), 'utf8')).toBe('as far as it came');
    expect(isMounted()).toBe(false);
  });
});

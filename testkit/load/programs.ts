import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { git, run, shell } from '../programs.ts';

/** A real program that works in a separate directory. */
export interface Program {
  /** The name of the program, and of its Debian package. */
  readonly binary: string;
  /** Called once before the first round. `outside` is a directory outside of the folder and on the same file system. */
  prepare(directory: string, outside: string): Promise<unknown>;
  work(directory: string, round: number, outside: string): Promise<unknown>;
  /** Checks the directory on another member after `rounds` rounds; fails if it is not as the program left it. */
  check(directory: string, rounds: number, outside: string): Promise<unknown>;
}

const onGit: Program = {
  binary: 'git',
  prepare: (directory) => git(directory, 'init', '--quiet'),
  async work(directory, round) {
    await git(directory, 'checkout', '--quiet', '-B', `branch-${round % 3}`);
    await shell(directory, `mkdir -p d${round % 5}; for n in $(seq 10); do echo ${round} $n > d${round % 5}/f$n; done`);
    await git(directory, 'add', '--all');
    await git(directory, 'commit', '--quiet', '--message', `round ${round}`);
    if (round % 10 === 9) await git(directory, 'gc', '--quiet');
  },
  async check(directory, rounds) {
    await git(directory, '-c', 'safe.directory=*', 'fsck', '--strict', '--no-dangling');
    const count = await git(directory, '-c', 'safe.directory=*', 'rev-list', '--count', 'HEAD');
    assert.equal(Number(count), rounds, 'commits');
  },
};

const onSqlite: Program = {
  binary: 'sqlite3',
  prepare: (directory) => run('sqlite3', ['db', 'create table t (round integer, text text)'], { cwd: directory }),
  work: (directory, round) =>
    run('sqlite3', ['db', `insert into t values (${round}, hex(randomblob(2000)))`], { cwd: directory }),
  async check(directory, rounds) {
    const found = await run('sqlite3', ['file:db?immutable=1', 'pragma integrity_check; select count(*) from t'], {
      cwd: directory,
    });
    assert.equal(found, `ok\n${rounds}\n`);
  },
};

const onTar: Program = {
  binary: 'tar',
  prepare: (_directory, outside) =>
    shell(
      outside,
      'mkdir -p tarred/d; for n in $(seq 60); do echo $n > tarred/d/f$n; done; ln -s d tarred/link; tar cf tarred.tar tarred',
    ),
  work: (directory, round, outside) =>
    shell(directory, `rm -rf r${round - 2}; mkdir r${round}; tar xf "${outside}/tarred.tar" -C r${round}`),
  check: (directory, rounds, outside) =>
    run('tar', ['--compare', '--file', join(outside, 'tarred.tar'), '-C', join(directory, `r${rounds - 1}`)]),
};

const onSed: Program = {
  binary: 'sed',
  prepare: (directory) => shell(directory, 'for n in $(seq 500); do echo "line $n round none"; done > text'),
  work: (directory, round) => run('sed', ['-i', `s/round .*/round ${round}/`, 'text'], { cwd: directory }),
  async check(directory, rounds) {
    assert.equal(await shell(directory, `grep -c 'round ${rounds - 1}$' text`), '500\n');
  },
};

const fio = (directory: string, extra: readonly string[]): Promise<string> =>
  run('fio', [
    '--name=drill',
    `--directory=${directory}`,
    '--rw=randwrite',
    '--size=4m',
    '--bs=4k',
    '--ioengine=psync',
    '--verify=crc32c',
    '--verify_state_save=0',
    '--randrepeat=1',
    ...extra,
  ]);

const onFio: Program = {
  binary: 'fio',
  prepare: async () => undefined,
  work: (directory) => fio(directory, ['--do_verify=1']),
  check: (directory) => fio(directory, ['--verify_only']),
};

const onStressNg: Program = {
  binary: 'stress-ng',
  prepare: async () => undefined,
  work: (directory) =>
    shell(
      directory,
      'stress-ng --quiet --temp-path . --timeout 10s --hdd 1 --hdd-ops 20 --hdd-bytes 4m --dentry 1 --dentry-ops 500 --dentries 100 --rename 1 --rename-ops 200 --link 1 --link-ops 20 --symlink 1 --symlink-ops 20 --dir 1 --dir-ops 100 --dir-dirs 100',
    ),
  check: async (directory) =>
    assert.equal(await shell(directory, 'ls -A'), '', 'entries that stress-ng has removed still exist'),
};

const all: readonly Program[] = [onGit, onSqlite, onTar, onSed, onFio, onStressNg];

function isInstalled(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The installed programs, and the names of the missing ones. */
export function installedPrograms(): { readonly there: readonly Program[]; readonly missing: readonly string[] } {
  const there = all.filter(({ binary }) => isInstalled(binary));
  return { there, missing: all.filter((program) => !there.includes(program)).map(({ binary }) => binary) };
}

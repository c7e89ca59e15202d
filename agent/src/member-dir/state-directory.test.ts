import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { sqlitePackage } from '../os/sqlite.ts';
import { loadIdentity } from './identity-files.ts';
import { acquireLock, findRunning, recordedSocketPath } from './instance-lock.ts';
import {
  checkStateDirectory,
  clusterKeyPath,
  findMemberFolder,
  hideFromGit,
  initStateDirectory,
  recordPlace,
  statePath,
} from './state-directory.ts';

let root = '';
let ant = '';

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-state-')));
  ant = join(root, 'ant');
  await mkdir(ant);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function failure(promise: Promise<unknown>): Promise<LockstepError> {
  const error = await promise.then(
    () => expect.fail('this should have been refused'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LockstepError);
  return error as LockstepError;
}

const init = (directory: string, clusterKeyFile?: string) =>
  initStateDirectory({ directory, clusterKeyFile, settings: { name: 'ant', listen: '127.0.0.1:0' } });

describe('init', () => {
  test('[CL2] makes everything a member needs, for its owner only', async () => {
    const made = await init(ant);
    expect(made).toMatchObject({ directory: ant, newCluster: true });
    expect(made.id).toMatch(/^[a-z2-7]{52}$/);
    expect((await stat(statePath(ant))).mode & 0o777).toBe(0o700);
    expect((await stat(clusterKeyPath(ant))).mode & 0o777).toBe(0o600);
    expect((await loadIdentity(statePath(ant))).memberId).toBe(made.id);
    expect((await loadConfig(ant)).config.name).toBe('ant');
    expect(await readdir(ant)).toEqual(['.lockstep']);
    expect(await checkStateDirectory(ant, { adopt: false })).toBe('same');
  });

  test.each(['by init', 'by a start of what another version made'])(
    '[CL30] git neither publishes nor removes the state directory: hidden %s',
    async (how) => {
      await init(ant);
      if (how !== 'by init') {
        await rm(join(statePath(ant), '.gitignore'));
        await hideFromGit(ant);
      }
      const files = await readdir(statePath(ant));
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-c', 'user.name=ant', '-c', 'user.email=ant@localhost', ...args], {
          cwd: root,
          encoding: 'utf8',
        });
      git('init', '--quiet');
      await writeFile(join(ant, 'note'), 'tracked');
      git('add', '--all');
      expect(git('ls-files')).toBe('ant/note\n');
      git('commit', '--quiet', '--message', 'first');
      await writeFile(join(ant, 'draft'), 'untracked');
      git('stash', '--quiet', '--include-untracked');
      await writeFile(join(ant, 'draft'), 'untracked');
      git('clean', '--quiet', '-fd');
      expect(await readdir(ant)).toEqual(['.lockstep', 'note']);
      expect(await readdir(statePath(ant))).toEqual(files);
    },
  );

  test('[CL30] a rule for git that a user wrote stays, and a start goes on without one', async () => {
    await init(ant);
    const rule = join(statePath(ant), '.gitignore');
    await writeFile(rule, 'of a user');
    await hideFromGit(ant);
    expect(await readFile(rule, 'utf8')).toBe('of a user');
    await rm(statePath(ant), { recursive: true });
    await hideFromGit(ant);
  });

  test('[CL2] makes the folder if it does not exist, but not inside the folder of a member', async () => {
    const deep = join(root, 'deep', 'er');
    expect(await init(deep)).toMatchObject({ directory: deep });
    expect((await failure(init(join(deep, 'bee')))).code).toBe('folder-nested');
    expect(await readdir(deep)).toEqual(['.lockstep']);
  });

  test('[CL2] takes the key of an existing cluster', async () => {
    const bee = join(root, 'bee');
    await mkdir(bee);
    await init(ant);
    expect(await init(bee, clusterKeyPath(ant))).toMatchObject({ newCluster: false });
    expect(await readFile(clusterKeyPath(bee), 'utf8')).toBe(await readFile(clusterKeyPath(ant), 'utf8'));
  });

  test('[CL2] a second time is refused and changes nothing', async () => {
    const { id } = await init(ant);
    expect(await failure(init(ant))).toMatchObject({
      code: 'already-member',
      message: expect.stringContaining('lockstep up'),
    });
    expect((await loadIdentity(statePath(ant))).memberId).toBe(id);
  });

  test("[CL2] inside another member's folder is refused", async () => {
    await init(ant);
    await mkdir(join(ant, 'deep', 'er'), { recursive: true });
    const error = await failure(init(join(ant, 'deep', 'er')));
    expect(error.code).toBe('folder-nested');
    expect(error.message).toContain(`lies inside ${ant}`);
  });

  test("[CL2] inside another member's folder through a link is refused", async () => {
    await init(ant);
    await mkdir(join(ant, 'deep'));
    await symlink(join(ant, 'deep'), join(root, 'link'));
    expect((await failure(init(join(root, 'link')))).code).toBe('folder-nested');
  });

  test("[CL2] around another member's folder is refused", async () => {
    await mkdir(join(ant, 'deep', 'er'), { recursive: true });
    await init(join(ant, 'deep', 'er'));
    const error = await failure(init(ant));
    expect(error.code).toBe('folder-nested');
    expect(error.message).toContain(`contains ${join(ant, 'deep', 'er')}`);
  });

  test('[CL2] a file, a folder below one, or a bad key leaves nothing behind', async () => {
    await writeFile(join(root, 'file'), '');
    const below = await failure(init(join(root, 'file', 'deep', 'er')));
    expect(below.message).toContain('does not exist and cannot be made (ENOTDIR)');
    expect((await failure(init(join(root, 'new', 'er'), join(root, 'file')))).code).toBe('cluster-key-invalid');
    expect(await readdir(root)).toEqual(['ant', 'file']);
    expect((await failure(init(join(root, 'file')))).message).toContain('is not a directory');
    expect((await failure(init(ant, join(root, 'none')))).code).toBe('cluster-key-invalid');
    expect((await failure(init(ant, join(root, 'file')))).code).toBe('cluster-key-invalid');
    expect(await readdir(ant)).toEqual([]);
  });

  // Root may write anywhere, so for root the case does not exist.
  test.skipIf(process.getuid?.() === 0)('[CL2] a folder that cannot be written is refused', async () => {
    await chmod(ant, 0o500);
    expect((await failure(init(ant))).code).toBe('folder-not-writable');
  });

  test('[CL2] an init works after one that was killed halfway', async () => {
    await mkdir(`${statePath(ant)}.new`);
    await writeFile(join(`${statePath(ant)}.new`, 'cluster.key'), 'half');
    await init(ant);
    expect(await readdir(ant)).toEqual(['.lockstep']);
  });
});

describe('the folder is searched upwards', () => {
  test('[CL3] from a folder inside it, and nowhere else', async () => {
    await init(ant);
    await mkdir(join(ant, 'a', 'b'), { recursive: true });
    expect(await findMemberFolder(join(ant, 'a', 'b'))).toBe(ant);
    expect((await failure(findMemberFolder(root))).message).toContain('lockstep init');
    expect((await failure(findMemberFolder(join(root, 'none')))).code).toBe('folder-not-found');
  });
});

describe('copied and moved state directories', () => {
  test('[CL2] a moved folder is accepted, and its new place is recorded', async () => {
    await init(ant);
    const bee = join(root, 'bee');
    await rename(ant, bee);
    expect(await checkStateDirectory(bee, { adopt: false })).toBe('moved');
    expect(await checkStateDirectory(bee, { adopt: false })).toBe('same');
  });

  test('[CL2] a copied folder is refused, with the path of the original; so is init in it', async () => {
    await init(ant);
    const bee = join(root, 'bee');
    execFileSync('cp', ['-a', ant, bee]);
    const error = await failure(checkStateDirectory(bee, { adopt: false }));
    expect(error.code).toBe('copied-state');
    expect(error.message).toContain(`was copied from ${ant}`);
    expect((await failure(init(bee))).code).toBe('copied-state');
    expect(await checkStateDirectory(ant, { adopt: false })).toBe('same');
  });

  test('[CL2] a state directory copied into another folder is refused', async () => {
    await init(ant);
    const bee = join(root, 'bee');
    await mkdir(bee);
    execFileSync('cp', ['-a', statePath(ant), bee]);
    expect((await failure(checkStateDirectory(bee, { adopt: false }))).code).toBe('copied-state');
  });

  test('[CL2] a state directory that was restored in place is refused until it is adopted', async () => {
    await init(ant);
    execFileSync('cp', ['-a', ant, join(root, 'backup')]);
    await rename(ant, join(root, 'gone'));
    await rename(join(root, 'backup'), ant);
    expect((await failure(checkStateDirectory(ant, { adopt: false }))).message).toContain('restored from a backup');
    expect(await checkStateDirectory(ant, { adopt: true })).toBe('adopted');
    // After a kill before the new incarnation it must still be adopted.
    expect((await failure(checkStateDirectory(ant, { adopt: false }))).code).toBe('copied-state');
    await recordPlace(ant);
    expect(await checkStateDirectory(ant, { adopt: false })).toBe('same');
  });

  test('[CL2] without its instance file a state directory is refused', async () => {
    await init(ant);
    await rm(join(statePath(ant), 'instance.json'));
    expect((await failure(checkStateDirectory(ant, { adopt: false }))).message).toContain('instance.json is missing');
  });

  test.each(['', '{"path": "/', '\0'.repeat(160), '[]'])(
    '[ST6] a damaged instance file (%j) is no copy: it is written again, only by the start',
    async (text) => {
      await init(ant);
      const path = join(statePath(ant), 'instance.json');
      const whole = await readFile(path, 'utf8');
      await writeFile(path, text);
      expect((await failure(init(ant))).code).toBe('already-member');
      expect(await readFile(path, 'utf8')).toBe(text);
      expect(await checkStateDirectory(ant, { adopt: false })).toBe('damaged');
      expect(await readFile(path, 'utf8'), 'before there is a new incarnation').toBe(text);
      await recordPlace(ant);
      expect(await readFile(path, 'utf8')).toBe(whole);
      expect(await checkStateDirectory(ant, { adopt: false })).toBe('same');
    },
  );
});

describe('one agent for one folder', () => {
  beforeEach(async () => {
    await init(ant);
  });

  test('[CL4] a second one gets the process that holds the folder', async () => {
    const lock = await acquireLock(ant, 1);
    await lock.announce({ dashboardUrl: 'http://127.0.0.1:1', socketPath: join(ant, '.lockstep/api.sock') });
    expect(await findRunning(ant)).toMatchObject({
      pid: process.pid,
      host: hostname(),
      startedAt: 1,
      dashboardUrl: 'http://127.0.0.1:1',
    });
    await lock.announce({ dashboardUrl: 'http://127.0.0.1:1', socketPath: '/run/user/1/lockstep-x/api.sock' });
    expect(await recordedSocketPath(ant)).toBe('/run/user/1/lockstep-x/api.sock');
    const error = await failure(acquireLock(ant, 2));
    expect(error.code).toBe('already-running');
    expect(error.message).toContain(`process ${process.pid}`);
    await lock.release();
    expect(await findRunning(ant)).toBeUndefined();
    await (await acquireLock(ant, 3)).release();
  });

  test('[CL4] the message does not say to kill the process id of another container', async () => {
    const lock = await acquireLock(ant, 1);
    await writeFile(join(statePath(ant), 'running.json'), JSON.stringify({ pid: 7, host: 'elsewhere', startedAt: 1 }));
    const { message } = await failure(acquireLock(ant, 2));
    expect(message).toContain('already in use by process 7 of elsewhere. Stop that one first');
    expect(message).not.toContain('kill');
    await lock.release();
  });

  test('[CL4] an agent is known by its process id also after the name of the machine changed', async () => {
    const lock = await acquireLock(ant, 1);
    const recorded = await readFile(join(statePath(ant), 'running.json'), 'utf8');
    const before = { ...(JSON.parse(recorded) as object), host: 'the-name-before' };
    await writeFile(join(statePath(ant), 'running.json'), JSON.stringify(before));
    const { message } = await failure(acquireLock(ant, 2));
    expect(message).toContain(`kill ${process.pid}`);
    await lock.release();
  });

  test.runIf(process.platform === 'linux')(
    '[CL4] the process id of another container is not one here, although both have the name of the machine',
    async () => {
      const lock = await acquireLock(ant, 1);
      const elsewhere = { pid: process.pid, host: hostname(), processes: 'another boot pid:[1]', startedAt: 1 };
      await writeFile(join(statePath(ant), 'running.json'), JSON.stringify(elsewhere));
      const { message } = await failure(acquireLock(ant, 2));
      expect(message).not.toContain('kill');
      await lock.release();
    },
  );

  test('[CL4] a lock dies with its process', async () => {
    const sqlite = createRequire(import.meta.url).resolve(sqlitePackage);
    const script = `
      const database = new (require(${JSON.stringify(sqlite)}))(${JSON.stringify(join(statePath(ant), 'lock.db'))});
      database.pragma('locking_mode = EXCLUSIVE');
      database.exec('BEGIN EXCLUSIVE');
      require('node:fs').writeFileSync(${JSON.stringify(join(statePath(ant), 'running.json'))}, JSON.stringify({ pid: process.pid, startedAt: 1 }));
      console.log('locked');
      setInterval(() => undefined, 1000);
    `;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(await findRunning(ant)).toMatchObject({ pid: child.pid });
    expect((await failure(acquireLock(ant, 2))).message).toContain(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await findRunning(ant)).toBeUndefined();
    await (await acquireLock(ant, 3)).release();
  });
});

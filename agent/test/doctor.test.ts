import { appendFile, chmod, chown, lchown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { lockstep, type Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { startCluster, useCluster } from '../../testkit/vitest/use-cluster.ts';
import { createClusterKey, formatClusterKey } from '../src/net/keys/cluster-key.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

const isRoot = process.getuid?.() === 0;

interface CheckResult {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly remedy?: string;
}

async function doctor(member: Member, options: Parameters<typeof lockstep>[1] = {}) {
  const { code, out } = await lockstep(['doctor', '--json', member.folder], options);
  const { ok, results } = JSON.parse(out) as { ok: boolean; results: readonly CheckResult[] };
  // [DR2] holds for all results.
  expect(code).toBe(ok ? 0 : 1);
  expect(ok).toBe(results.every(({ level }) => level !== 'fail'));
  for (const { level, remedy } of results) expect((remedy ?? '') !== '').toBe(level !== 'ok');
  return results;
}

/** The warnings that may be right on the machine of the tests: a small disk, /tmp in memory. */
const ofTheMachine = new Set(['disk space', 'file system', 'inotify', 'open files']);

function levels(results: readonly CheckResult[], check: string): readonly string[] {
  return results.filter((result) => result.check === check).map(({ level }) => level);
}

function expectResult(
  results: readonly CheckResult[],
  check: string,
  level: string,
  detail: RegExp,
  remedy?: RegExp,
): void {
  const found = results.filter((result) => result.check === check && result.level === level);
  expect(found.map((result) => result.detail).join('\n'), JSON.stringify(results, null, 1)).toMatch(detail);
  if (remedy !== undefined) expect(found.map((result) => result.remedy).join('\n')).toMatch(remedy);
}

/** The names in the state directory when this test's login and the others' addresses are stored, which the agent does in the background. */
function storedFiles(member: Member): Promise<readonly string[]> {
  return vi.waitFor(async () => {
    const names = await readdir(member.state('.'));
    expect(names).toEqual(expect.arrayContaining(['sessions.json', 'addresses.json']));
    expect(names).not.toContainEqual(expect.stringMatching(/\.new$/));
    return names;
  }, patience);
}

describe('a member of two', () => {
  const cluster = useCluster(['ant', 'bee']);

  test('[DR1] a healthy member has no results, and doctor changes nothing', async () => {
    const bee = cluster().member('bee');
    const before = (await bee.status()).members;
    const files = await storedFiles(bee);
    const results = await doctor(bee);
    expect(results.filter(({ check, level }) => level !== 'ok' && !ofTheMachine.has(check))).toEqual([]);
    expect(new Set(results.map(({ check }) => check))).toEqual(
      new Set([
        'member',
        'permissions',
        'disk space',
        'file system',
        'inotify',
        'open files',
        'ports',
        'peers',
        'clock',
        'versions',
      ]),
    );
    expectResult(results, 'peers', 'ok', /^ant answers at 127\.0\.0\.1:\d+\.$/);
    const after = (await bee.status()).members;
    expect(after.map(({ remote }) => remote)).toEqual(before.map(({ remote }) => remote));
    expect(await storedFiles(bee)).toEqual(files);
  });

  test('[DR2] the text has a line for each result, and below it what to do', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const well = await lockstep(['doctor', bee.folder]);
    expect(well).toMatchObject({ code: 0, err: '' });
    expect(well.out).toMatch(/^ok {4}permissions {2}.*can be written/m);
    expect(well.out.trimEnd()).toMatch(/(All is well|Nothing fails; \d warnings?)\.$/);
    await chmod(ant.state('cluster.key'), 0o644);
    const ill = await lockstep(['doctor', ant.folder]);
    await chmod(ant.state('cluster.key'), 0o600);
    expect(ill.code).toBe(1);
    expect(ill.out).toMatch(
      /^fail {2}permissions .*cluster\.key can be read by others .*\n +→ chmod 600 .*cluster\.key$/m,
    );
    expect(ill.out.trimEnd()).toMatch(/1 failure and \d warnings?\.$/);
  });

  test('[DR1] without a running agent the key is proved to the others too', async () => {
    const bee = cluster().member('bee');
    await bee.stop();
    const results = await doctor(bee);
    await bee.start();
    await cluster().connected();
    expectResult(results, 'member', 'warn', /No agent runs here/, /lockstep up/);
    expectResult(results, 'journal', 'ok', /The journal is whole/);
    expectResult(results, 'peers', 'ok', /answers at .*, and the cluster key agrees/);
    expect(levels(results, 'ports')).toEqual(['ok', 'ok']);
    expect(results.filter(({ level }) => level === 'fail')).toEqual([]);
  });

  test('[DR1] an agent that is suspended and does not answer', async () => {
    const bee = cluster().member('bee');
    bee.signal('SIGSTOP');
    const results = await doctor(bee);
    bee.signal('SIGCONT');
    await cluster().connected();
    expectResult(results, 'member', 'fail', /The agent does not answer at/);
    // Its ports are not attributed to another program, and its sessions are not affected.
    expect(levels(results, 'ports')).toEqual([]);
    expectResult(results, 'peers', 'ok', /answers at 127\.0\.0\.1:\d+\.$/);
  });

  test('[DR5] a port that another program uses', async () => {
    const bee = cluster().member('bee');
    await bee.stop();
    // ant still dials that port.
    const server = createServer((socket) => socket.destroy()).listen(bee.port, '127.0.0.1');
    const results = await doctor(bee);
    await new Promise((closed) => server.close(closed));
    await bee.start();
    await cluster().connected();
    expectResult(results, 'ports', 'fail', new RegExp(`${bee.address} is taken by another program`), /ss -ltnp/);
  });

  test('[DR5] settings that the running agent has not read yet, and a dashboard that every machine can reach', async () => {
    const bee = cluster().member('bee');
    const file = bee.state('config.toml');
    const before = await readFile(file, 'utf8');
    await writeFile(file, before.replace(/^dashboard = .*$/m, 'dashboard = "0.0.0.0:4800"'));
    const results = await doctor(bee);
    await writeFile(file, before);
    expectResult(
      results,
      'ports',
      'warn',
      /The agent listens on .*, and dashboard says 0\.0\.0\.0:4800/,
      /Start the agent again/,
    );
    expectResult(
      results,
      'ports',
      'fail',
      /Other machines can reach the dashboard at 0\.0\.0\.0/,
      /certificate[\s\S]*ssh -L/,
    );
  });

  test('[DR6] a member that is not up, and one whose key differs', async () => {
    const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
    const seen = async () => (await bee.status()).members.find(({ name }) => name === 'ant')?.condition;
    await ant.stop();
    await expect.poll(seen, { timeout: patience }).toBe('shut-down');
    const ordered = await doctor(bee);
    expectResult(ordered, 'peers', 'warn', new RegExp(`ant is shut down, and does not answer at ${ant.address}`));
    expect(levels(ordered, 'peers')).toEqual(['warn']);
    await ant.start();
    await cluster().connected();
    await ant.kill();
    await expect.poll(seen, { timeout: patience }).toBe('down');
    const alone = await doctor(bee);
    expectResult(alone, 'peers', 'fail', new RegExp(`No session with ${ant.address}: no program listens there`));
    expectResult(alone, 'peers', 'warn', /The agent has no session with ant/);
    await bee.stop();
    await ant.start();
    const key = bee.state('cluster.key');
    const right = await readFile(key, 'utf8');
    await writeFile(key, formatClusterKey(createClusterKey()));
    const stranger = await doctor(bee);
    await bee.start({ ready: false });
    await expect.poll(seen, { timeout: patience }).toBe('down');
    const refused = await doctor(bee);
    await bee.stop();
    await writeFile(key, right);
    await bee.start();
    await cluster().connected();
    expectResult(stranger, 'peers', 'fail', /the cluster keys differ/);
    expectResult(
      refused,
      'peers',
      'warn',
      /The agent has no session with ant/,
      /^ant is up and answers: run lockstep status/,
    );
  });

  test('[DR7] a clock that is wrong by a day', async () => {
    const bee = cluster().member('bee');
    const shift = join(cluster().root, 'shift');
    await writeFile(shift, String(86_400_000));
    const shifted = fileURLToPath(new URL('../../testkit/machine/shifted-clock.mjs', import.meta.url));
    const env = { NODE_OPTIONS: `--import=${shifted}`, LOCKSTEP_TEST_CLOCK_FILE: shift };
    expectResult(
      await doctor(bee, { env }),
      'clock',
      'fail',
      /The clock of ant is (23 h 59 min|1 day) behind this one/,
      /set-ntp/,
    );
  });

  test('[DR4] inotify watches and instances, too few for the folder', async () => {
    const bee = cluster().member('bee');
    await shell(bee.folder, 'for n in $(seq 60); do mkdir -p d$n; done');
    const within = (limit: string) => ({
      wrapper: ['unshare', '--user', '--map-root-user', 'sh', '-c', `echo ${limit}; exec "$@"`, 'sh'],
    });
    const few = await doctor(bee, within('20 > /proc/sys/user/max_inotify_watches'));
    expectResult(
      few,
      'inotify',
      'fail',
      /^61 directories to watch, and \d+ of 20 watches left/,
      /max_user_watches=\d+/,
    );
    const none = await doctor(bee, within('0 > /proc/sys/user/max_inotify_instances'));
    expectResult(none, 'inotify', 'fail', /inotify instances of this user are taken/, /max_user_instances=/);
  });

  test('[DR4] too few open files', async () => {
    const bee = cluster().member('bee');
    await bee.stop();
    const limited = (limit: number) => ({ wrapper: ['sh', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh'] });
    const few = await doctor(bee, limited(127));
    const some = await doctor(bee, limited(500));
    await bee.start();
    await cluster().connected();
    expectResult(few, 'open files', 'fail', /127 files open, and needs/, /LimitNOFILE/);
    expectResult(some, 'open files', 'warn', /500 files open: under load that is too few/);
  });

  test.runIf(isRoot)('[DR3] files of the state that belong to another user', async () => {
    const bee = cluster().member('bee');
    await lchown(bee.state('identity.crt'), 65_534, 65_534);
    const results = await doctor(bee);
    await lchown(bee.state('identity.crt'), (await stat(bee.folder)).uid, (await stat(bee.folder)).gid);
    expectResult(results, 'permissions', 'warn', /identity\.crt belongs to another user/, /chown -R/);
  });

  test.runIf(isRoot)('[DR3] run by root: a folder that the user of the agent may not write', async () => {
    const bee = cluster().member('bee');
    const { uid, gid } = await stat(bee.folder);
    // The running agent may remove a draft in between.
    await eventually(() => run('chown', ['-R', '65534:65534', bee.state('.')]));
    const results = await doctor(bee);
    await chown(bee.folder, 65_534, 65_534);
    const given = await doctor(bee);
    await eventually(() => run('chown', ['-R', `${uid}:${gid}`, bee.folder]));
    expectResult(results, 'permissions', 'warn', /does not seem to be open to the user 65534/, /chown --reference=/);
    expect(levels(given, 'permissions')).toEqual(['ok']);
  });

  test.runIf(isRoot)('[DR3] a folder that its user may not write', async () => {
    const bee = cluster().member('bee');
    const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
    await chmod(cluster().root, 0o755);
    await chmod(bee.folder, 0o755);
    await chmod(bee.state('.'), 0o755);
    const results = await doctor(bee, { wrapper: asNobody });
    await chmod(bee.state('.'), 0o700);
    // A file that only another user may read is not reported as lost.
    const unread = results.filter(({ check, level }) => check === 'member' && level === 'fail');
    expect(unread.map(({ detail }) => detail).join('\n')).not.toMatch(/from a backup|Copy|lockstep init/);
    expectResult(
      results,
      'permissions',
      'fail',
      /cannot be read and written by this user \(EACCES\)/,
      /Run as its owner, the user 0/,
    );
  });
});

test('[DR8] a state directory that was copied or restored, which lockstep up refuses', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await ant.stop();
  expect(levels(await doctor(ant), 'member')).toEqual(['warn']);
  await writeFile(ant.state('instance.json'), '');
  expectResult(
    await doctor(ant),
    'member',
    'warn',
    /instance\.json is damaged/,
    /The next start writes it again: lockstep up/,
  );
  await rm(ant.state('instance.json'));
  expectResult(await doctor(ant), 'member', 'fail', /it is unknown whether .* was copied.*lockstep up --adopt/);
  expect(await readdir(ant.state('.'))).not.toContain('instance.json');
});

test('[DR8] state files that are damaged: what the next start does about each, and what it then does', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await ant.stop();
  await writeFile(ant.state('mounts.json'), '[{"path":');
  const refusal = /mounts\.json is damaged\. Mount all disks inside the folder as before, then remove that file/;
  expectResult(await doctor(ant), 'member', 'fail', refusal);
  expect(await lockstep(['up', ant.folder])).toMatchObject({ code: 1, err: expect.stringMatching(refusal) });
  await rm(ant.state('mounts.json'));
  await writeFile(ant.state('journal.db'), 'no database');
  const results = await doctor(ant);
  expectResult(
    results,
    'journal',
    'fail',
    /The journal is damaged: /,
    /The next start puts the journal aside.*lockstep up/,
  );
  expect(results.filter(({ level }) => level === 'fail')).toHaveLength(1);
  await ant.start();
  expect((await readdir(ant.state('.'))).filter((name) => name.startsWith('journal.db.damaged-'))).toHaveLength(1);
  expect(levels(await doctor(ant), 'journal')).toEqual([]);
});

test('[DR8] a member that has left: how it rejoins, because a mere start is refused', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const bee = cluster.member('bee');
  expect((await lockstep(['leave', bee.folder])).code).toBe(0);
  await bee.ended();
  expectResult(await doctor(bee), 'member', 'warn', /^This member has left the cluster/, /lockstep up --rejoin/);
  await bee.start({ args: ['--rejoin'] });
  await bee.stop();
  expectResult(await doctor(bee), 'member', 'warn', /^No agent runs here/, /Start it: lockstep up \//);
});

test('[DR1] a config.toml with a mistake is a result, and the rest is still checked', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  await ant.stop();
  await writeFile(ant.state('config.toml'), 'lisen = "127.0.0.1:4700"\n');
  const results = await doctor(ant);
  expectResult(results, 'member', 'fail', /config\.toml:1: there is no key lisen\. Did you mean listen\?/);
  expect(levels(results, 'disk space')).toEqual(['ok']);
  expectResult(results, 'peers', 'warn', /No other member is known/);
});

describe.runIf(isRoot)('[DR3] the disk of the folder', () => {
  test('in memory, small, and then full', async () => {
    const cluster = await startCluster(['ant']);
    const disk = join(cluster.root, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
    onTestFinished(async () => {
      await run('umount', ['-l', disk]);
    });
    const bee = await cluster.add('bee', { folder: join(disk, 'bee'), up: false });
    await appendFile(bee.state('config.toml'), 'history_size = "1 GiB"\n');
    const small = await doctor(bee);
    expectResult(small, 'file system', 'warn', /on tmpfs, which is kept in memory/, /Put the folder on a disk/);
    expectResult(small, 'disk space', 'warn', /are free, and replaced versions may take up to 1\.1 GB/, /history_size/);
    await shell(disk, 'dd if=/dev/zero of=ballast bs=1M 2>/dev/null || true');
    expectResult(await doctor(bee), 'disk space', 'fail', /Only .* are free/, /Free some space/);
  });
});

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { cleanEnvironment, runInstalled, upInstalled } from './run-installed.ts';
import { instanceOf, type units, writeUnit } from './units.ts';

const execute = promisify(execFile);

/**
 * The settings that are left out here. Only systemd as process 1 can apply some of them: a user, and the protection of parts of /sys and
 * /proc. The private /tmp is left out because the folders of tests are below /tmp.
 */
const without = ['User', 'Group', 'RequiresMountsFor', 'ProtectKernelTunables', 'ProtectKernelLogs', 'PrivateTmp'];

let manager: ChildProcess;
let runtime: string;
let settings: string;

function environment(): Record<string, string> {
  return { ...cleanEnvironment(), XDG_RUNTIME_DIR: runtime, XDG_CONFIG_HOME: settings };
}

async function systemctl(...args: readonly string[]): Promise<string> {
  return (await execute('systemctl', ['--user', ...args], { env: environment() })).stdout.trim();
}

/** The manager considers all processes of its control groups its own, so it gets separate groups in every hierarchy. */
const group = `lockstep-test-${process.pid}`;

const boot = `
for procs in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
  [ -w "$procs" ] || continue
  mkdir -p "\${procs%/*}/${group}" && echo $$ > "\${procs%/*}/${group}/cgroup.procs"
done
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
for systemd in /usr/lib/systemd/systemd /lib/systemd/systemd; do [ -x $systemd ] && exec $systemd --user; done`;

/** Our own service manager, in a mount namespace where /run says that the machine was booted with systemd. */
beforeAll(async () => {
  runtime = await mkdtemp(join(tmpdir(), 'lockstep-systemd-'));
  settings = await mkdtemp(join(inject('installed').space, 'settings-'));
  manager = spawn('unshare', ['--mount', 'sh', '-c', boot], { env: environment(), stdio: 'ignore' });
  await vi.waitFor(() => systemctl('show', '--property=Version'), 20_000);
});

afterAll(async () => {
  const ended = once(manager, 'close');
  await systemctl('exit');
  await ended;
  await execute('find', [
    '/sys/fs/cgroup',
    '-depth',
    '-type',
    'd',
    '-path',
    `*/${group}*`,
    '-exec',
    'rmdir',
    '{}',
    ';',
  ]);
  await rm(runtime, { recursive: true, force: true });
});

const here = ['--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0'];

async function makeMember(folder: string, ...more: readonly string[]): Promise<void> {
  await mkdir(folder);
  expect(await runInstalled(['init', folder, ...here, ...more])).toMatchObject({ code: 0 });
}

/** Installs the unit and makes a member in a new folder. Returns the folder and its service, which is not started yet. */
async function makeService(unit: keyof typeof units, name: string): Promise<{ folder: string; service: string }> {
  const folder = join(inject('installed').space, name);
  await makeMember(folder);
  await writeUnit(unit, join(settings, 'systemd', 'user'), `${name}@.service`, without);
  await systemctl('daemon-reload');
  return { folder, service: `${name}@${await instanceOf(folder)}.service` };
}

async function start(folder: string, service: string): Promise<void> {
  await systemctl('start', service);
  await vi.waitFor(async () => expect(await runInstalled(['status', folder])).toMatchObject({ code: 0 }), 30_000);
}

test.each<[keyof typeof units, string]>([
  ['user', 'lockstep'],
  ['system', 'lockstep-system'],
])('[PK3] the service of the %s replicates, confined as its unit says, and stops on request', async (unit, name) => {
  const { folder, service } = await makeService(unit, name);
  await start(folder, service);
  // Enough files that the agent calls `sync -f`, a program of its own, and a large one that goes through the worker threads.
  for (let index = 0; index < 40; index++) await writeFile(join(folder, `file-${index}`), String(index));
  await writeFile(join(folder, 'large'), Buffer.alloc(3 * 1_048_576, 'x'));
  expect(await runInstalled(['wait', folder])).toMatchObject({ code: 0 });
  const status = JSON.parse((await runInstalled(['status', '--json', folder])).out);
  expect(status).toMatchObject({ files: 41, problems: [] });

  const pid = await systemctl('show', '--property=MainPID', '--value', service);
  const confinement = await readFile(`/proc/${pid}/status`, 'utf8');
  expect(confinement).toMatch(/^NoNewPrivs:\t1$/m);
  expect(confinement).toMatch(/^Seccomp:\t2$/m);
  await systemctl('stop', service);
  expect(await systemctl('show', '--property=Result', '--value', service)).toBe('success');
  expect(await runInstalled(['status', folder])).toMatchObject({
    code: 1,
    err: expect.stringContaining('No agent runs'),
  });
});

test.each<[keyof typeof units, string]>([
  ['user', 'takes'],
  ['system', 'takes-system'],
])(
  '[PK3] the service of the %s applies changes by another member, including setgid directories',
  async (unit, name) => {
    const { folder, service } = await makeService(unit, name);
    await start(folder, service);
    const { member } = JSON.parse((await runInstalled(['status', '--json', folder])).out);
    const peer = `${folder}-peer`;
    await makeMember(
      peer,
      '--cluster-key-file',
      join(folder, '.lockstep', 'cluster.key'),
      '--peer',
      member.addresses[0],
    );
    await upInstalled(peer);
    await mkdir(join(peer, 'common'));
    await chmod(join(peer, 'common'), 0o2775);
    await writeFile(join(peer, 'common', 'tool'), 'of a group');
    await chmod(join(peer, 'common', 'tool'), 0o4755);
    // The peer refuses to wait for two members until it knows the other one.
    await vi.waitFor(async () => {
      expect(await runInstalled(['wait', peer, '--for', '2', '--timeout', '60'])).toMatchObject({ code: 0 });
    }, 60_000);
    expect((await stat(join(folder, 'common'))).mode & 0o7777).toBe(0o2775);
    expect((await stat(join(folder, 'common', 'tool'))).mode & 0o7777).toBe(0o4755);
    await systemctl('stop', service);
  },
);

test.each<[keyof typeof units, string]>([
  ['user', 'mistaken'],
  ['system', 'mistaken-system'],
])('[PK3] the service of the %s is not restarted after a mistake in its settings', async (unit, name) => {
  const { folder, service } = await makeService(unit, name);
  await appendFile(join(folder, '.lockstep', 'config.toml'), 'nothing_like_this = 1\n');
  await systemctl('start', service);
  // Otherwise its state would be "activating" until its next start.
  await vi.waitFor(async () => {
    expect(await systemctl('show', '--property=ActiveState', '--value', service)).toBe('failed');
  }, 30_000);
  expect(await systemctl('show', '--property=NRestarts,ExecMainStatus', service)).toMatch(/^NRestarts=0$/m);
});

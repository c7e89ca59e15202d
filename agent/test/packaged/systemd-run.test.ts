import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { cleanEnvironment, runInstalled } from './run-installed.ts';
import { instanceOf, type units, writeUnit } from './units.ts';

const execute = promisify(execFile);

/**
 * Left out here: what only systemd as process 1 can do (name a user, cover parts of /sys and /proc), and the /tmp of its own, for the
 * folders of tests lie below /tmp.
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

/** The manager takes all processes of its control groups for its own: it gets groups in which it is alone, in every hierarchy. */
const group = `lockstep-test-${process.pid}`;

const boot = `
for procs in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
  [ -w "$procs" ] || continue
  mkdir -p "\${procs%/*}/${group}" && echo $$ > "\${procs%/*}/${group}/cgroup.procs"
done
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
for systemd in /usr/lib/systemd/systemd /lib/systemd/systemd; do [ -x $systemd ] && exec $systemd --user; done`;

/** A manager of services of our own, in a mount namespace where /run says that the machine was booted with systemd. */
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

test.each<[keyof typeof units, string]>([
  ['user', 'lockstep'],
  ['system', 'lockstep-system'],
])(
  '[PK3] the service of the %s replicates, confined as its unit says, and stops when it is told to',
  async (unit, name) => {
    const folder = join(inject('installed').space, `service-${unit}`);
    await mkdir(folder);
    expect(await runInstalled(['init', folder, '--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0'])).toMatchObject(
      { code: 0 },
    );
    await writeUnit(unit, join(settings, 'systemd', 'user'), `${name}@.service`, without);
    await systemctl('daemon-reload');
    const service = `${name}@${await instanceOf(folder)}.service`;
    await systemctl('start', service);
    await vi.waitFor(async () => expect(await runInstalled(['status', folder])).toMatchObject({ code: 0 }), 30_000);
    // Enough files that the agent calls `sync -f`, a program of its own, and a large one that goes through the worker threads.
    for (let index = 0; index < 40; index++) await writeFile(join(folder, `file-${index}`), String(index));
    await writeFile(join(folder, 'large'), Buffer.alloc(3 * 1_048_576, 'x'));
    expect(await runInstalled(['wait', '-C', folder])).toMatchObject({ code: 0 });
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
  },
);

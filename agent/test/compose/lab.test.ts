import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { prometheusImage } from '../../../testkit/containers/compose-project.ts';
import { docker } from '../../../testkit/containers/container-member.ts';
import { allConnected, allSettled, allVerified } from '../../../testkit/level.ts';
import { shellAs } from '../../../testkit/machine/person.ts';
import { lockstep } from '../../../testkit/member.ts';
import { repositoryRoot } from '../../../testkit/repository.ts';
import { SqliteDatabase } from '../../src/os/sqlite.ts';
import { useLab } from './_lab.ts';

const patience = { timeout: 60_000, interval: 200 };

const lab = useLab();

/** Runs a line of shell script as the user of the lab. */
const shell = (cwd: string, script: string): Promise<string> => shellAs(lab().person, cwd, script);

test('`up` alone gives three members, healthy and connected, at the documented ports and folders', async () => {
  for (const member of lab().members) {
    await vi.waitFor(async () => expect(await member.inspect('{{.State.Health.Status}}')).toBe('healthy'), patience);
    await vi.waitFor(
      async () => expect(await lab().project.compose('logs', member.name)).toContain(`dashboard ${member.url}`),
      patience,
    );
    expect(await lab().project.compose('logs', 'prepare')).toContain(` ${member.folder} `);
    const page = await fetch(`${member.url}`, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<title>Lockstep</title>');
  }
  expect(await docker('inspect', '--format', '{{.State.ExitCode}}', await lab().project.container('prepare'))).toBe(
    '0',
  );
});

test('an agent in a container runs as an ordinary user without capabilities, and can write to its folder and /tmp', async () => {
  const ant = lab().member('ant');
  const status = await ant.exec('cat', '/proc/1/status');
  expect(status).toMatch(/^Name:\ttini$/m);
  expect(status).not.toMatch(/^Uid:\t0/m);
  for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(status).toMatch(new RegExp(`^${set}:\\t0{16}$`, 'm'));
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(await ant.exec('sh', '-c', 'touch /x /opt/x /var/x 2>&1 || true')).toMatch(
    /^(.*Read-only file system\n?){3}$/,
  );
  expect(await ant.exec('sh', '-c', 'touch /tmp/x && rm /tmp/x && pwd')).toBe('/lab/ant');
  const programs = 'gcc g++ cc make python3 npm npx';
  expect(await ant.exec('sh', '-c', `for p in ${programs}; do command -v $p || true; done`)).toBe('');
});

test('a real tree that is copied in from the host is the same on all members', async () => {
  const ant = lab().member('ant');
  const room = ant.path('tree');
  await mkdir(room);
  const parts = ['agent/src', 'shared', 'dashboard', 'docs', 'node_modules/zod', 'node_modules/typescript/lib'];
  await shell(
    room,
    `for part in ${parts.join(' ')}; do cp -r "${repositoryRoot}/$part" "$(echo $part | tr / -)"; done`,
  );
  await shell(
    room,
    'ln -s docs link; ln -s /nowhere dangling; mkdir -p empty/deep; printf "#!/bin/sh\\n" > tool; chmod 755 tool; ' +
      'head -c 64M /dev/urandom > large; printf x > "odd \n name"; chmod 600 large',
  );
  const tree = await allSettled(lab().members, 240_000);
  expect(tree.size).toBeGreaterThan(1_000);
  await allVerified(lab().members);
});

test('the user of the host can edit and delete files that any member has made', async () => {
  const [ant, bee, cat] = lab().members;
  if (!ant || !bee || !cat) throw new Error('There are three');
  await mkdir(bee.path('shared'));
  await writeFile(bee.path('shared', 'note'), 'one');
  await allSettled(lab().members);
  await writeFile(cat.path('shared', 'note'), 'two');
  await allSettled(lab().members);
  expect(await readFile(ant.path('shared', 'note'), 'utf8')).toBe('two');
  await chmod(ant.path('shared', 'note'), 0o640);
  await allSettled(lab().members);
  await shell(ant.folder, 'rm -r shared');
  expect([...(await allSettled(lab().members)).keys()].filter((name) => name.startsWith('shared'))).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  'files of another user are replicated as far as permissions allow, the rest is reported, and `prepare` solves it',
  async () => {
    const [ant, bee] = [lab().member('ant'), lab().member('bee')];
    const other = { uid: lab().person.uid + 1, gid: lab().person.gid + 1 };
    // A folder in which every user may write, like a shared one.
    await mkdir(ant.path('drop'));
    await chmod(ant.path('drop'), 0o777);
    await allSettled(lab().members);
    await shellAs(
      other,
      ant.path('drop'),
      // The secret is one from its creation on.
      'umask 022; echo open > file; mkdir dir; echo in > dir/in; umask 077; echo no > secret',
    );
    await vi.waitFor(async () => expect(await readFile(bee.path('drop', 'dir', 'in'), 'utf8')).toBe('in\n'), patience);
    await vi.waitFor(async () => expect(await readFile(bee.path('drop', 'file'), 'utf8')).toBe('open\n'), patience);
    expect((await stat(bee.path('drop', 'file'))).uid).toBe(lab().person.uid);
    const problems = async () =>
      (await ant.status()).problems.map(({ code, path }) => `${code} ${path}`).filter((line) => line.includes('drop'));
    await vi.waitFor(async () => expect(await problems()).toEqual(['path-permission drop/secret']), patience);

    await writeFile(bee.path('drop', 'file'), 'changed');
    await writeFile(bee.path('drop', 'dir', 'in'), 'changed');
    await vi.waitFor(async () => expect(await readFile(ant.path('drop', 'file'), 'utf8')).toBe('changed'), patience);
    await vi.waitFor(async () => {
      expect((await problems()).sort()).toEqual(['path-permission drop/dir/in', 'path-permission drop/secret']);
    }, patience);

    await lab().project.compose('run', '--rm', 'prepare');
    await vi.waitFor(async () => expect(await problems()).toEqual([]), patience);
    await allSettled(lab().members);
    expect(await readFile(ant.path('drop', 'dir', 'in'), 'utf8')).toBe('changed');
    expect(await readFile(bee.path('drop', 'secret'), 'utf8')).toBe('no\n');
  },
);

test('the commands work in the container, and on the folder from the host', async () => {
  const ant = lab().member('ant');
  expect(await ant.exec('lockstep', 'status')).toMatch(/^ant {2}active/);
  expect(await lockstep(['status', ant.folder])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ant {2}active/),
  });
  expect((await lockstep(['wait', ant.folder, '--for', 'all'])).code).toBe(0);
});

test('[API1] a replay is allowed to programs in the container, but not through the published port', async () => {
  const ant = lab().member('ant');
  const asked = await fetch(`${ant.url}api/v1/replay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ into: '/tmp/refused' }),
  });
  expect(asked.status).toBe(403);
  expect(await ant.exec('sh', '-c', 'ls /tmp')).not.toContain('refused');
  expect(await ant.exec('lockstep', 'replay', '--into', '/tmp/then')).toContain('Rebuilt');
  await ant.exec('rm', '-r', '/tmp/then');
});

test('[CL4] a lab of processes does not start over one of containers, and says what runs there', async () => {
  const module = new URL('../../dist/cli/lab/lab.js', import.meta.url).href;
  const script = `import { runLab } from ${JSON.stringify(module)}; process.exitCode = await runLab(process.argv.slice(2));`;
  await writeFile(join(lab().project.root, 'lab.mjs'), script);
  const said = await shell(lab().project.root, `"${process.execPath}" lab.mjs --fresh 2>&1 || echo "code $?"`);
  expect(said).toMatch(
    /Member (ant|bee|cat) of an earlier lab still runs \(process \d+ of \1\)\. Stop it first: stop the/,
  );
  expect(said).toContain('code 1');
  await allConnected(lab().members);
});

test('[CL4] members in containers do not start over a lab of processes', async () => {
  const { project, members } = lab();
  // The lock that `npm start` holds while it runs.
  const lock = new SqliteDatabase(join(project.root, 'lab', 'lab.lock'));
  onTestFinished(() => {
    lock.close();
  });
  lock.pragma('locking_mode = EXCLUSIVE');
  lock.exec('BEGIN EXCLUSIVE');
  const failure = (await project.compose('run', '--rm', 'prepare').catch((error: unknown) => error)) as Error & {
    stdout?: string;
    stderr?: string;
  };
  expect(failure).toBeInstanceOf(Error);
  expect(`${failure.stdout}${failure.stderr}`).toContain('A lab is already running in /lab.');
  await allConnected(members);
});

test('an agent that dies is restarted automatically', async () => {
  const bee = lab().member('bee');
  const restarts = Number(await bee.inspect('{{.RestartCount}}'));
  // Not the first process, which is tini, but the agent that it waits for.
  await bee.exec('sh', '-c', 'kill -9 $(cat /proc/1/task/1/children)');
  await vi.waitFor(async () => expect(Number(await bee.inspect('{{.RestartCount}}'))).toBe(restarts + 1), patience);
  await bee.answers();
  await allConnected(lab().members);
});

test('containers that are removed and made again continue as the same members', async () => {
  const before = (await lab().member('ant').status()).members.map(({ id }) => id).sort();
  await writeFile(lab().member('ant').path('before'), 'before');
  await lab().project.compose('down');
  await writeFile(lab().member('cat').path('meanwhile'), 'meanwhile');
  await lab().up();
  await allSettled(lab().members);
  const { members } = await lab().member('ant').status();
  expect(members.map(({ id }) => id).sort()).toEqual(before);
  expect(await readFile(lab().member('bee').path('meanwhile'), 'utf8')).toBe('meanwhile');
  await allVerified(lab().members);
});

/** Makes an image from this machine's Prometheus, with the path and the user of the official one. */
async function makePrometheusImage(): Promise<void> {
  const lines = [
    'FROM lockstep-lab',
    'COPY prometheus /bin/prometheus',
    'USER 0',
    'RUN install -d -o 65534 -g 65534 /prometheus',
    'USER 65534',
    'HEALTHCHECK NONE',
    'ENTRYPOINT ["/bin/prometheus"]',
  ];
  const context = join(lab().project.root, 'image');
  await mkdir(context);
  await shell(context, 'cp "$(command -v prometheus)" prometheus');
  await writeFile(join(context, 'Dockerfile'), lines.join('\n'));
  await docker('build', '--quiet', '--tag', prometheusImage, context);
}

const hasPrometheus = (process.env.PATH ?? '')
  .split(':')
  .some((directory) => existsSync(join(directory, 'prometheus')));

test.runIf(hasPrometheus)('--profile metrics: Prometheus scrapes all members, and has the alert rules', async () => {
  const { project, members } = lab();
  await makePrometheusImage();
  await shell(project.root, `cp -r "${repositoryRoot}/monitoring" .`);
  // Here the members' dashboards have other ports than in prometheus.yml.
  const targets = members.map(({ name, url }) => `${name}:${new URL(url).port}`);
  await writeFile(join(project.root, 'monitoring', 'targets', 'test.yml'), JSON.stringify([{ targets }]));
  const profile = ['--profile', 'metrics'];
  onTestFinished(async () => {
    await project.compose(...profile, 'rm', '--stop', '--force', 'prometheus');
    await docker('image', 'rm', prometheusImage);
  });
  await project.compose(...profile, 'up', '--detach', '--no-build', 'prometheus');
  const ask = async (path: string): Promise<unknown> => (await fetch(project.url('prometheus') + path)).json();
  await vi.waitFor(async () => {
    const up = { data: { result: [{ value: [expect.anything(), '3'] }] } };
    expect(await ask('/api/v1/query?query=sum(up)')).toMatchObject(up);
  }, patience);
  expect(JSON.stringify(await ask('/api/v1/rules'))).toContain('LockstepMemberDown');
});

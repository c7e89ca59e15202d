import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test, vi } from 'vitest';
import { freePort } from '../../../testkit/free-port.ts';
import { sqlitePackage } from '../../src/os/sqlite.ts';
import { runInstalled, upInstalled } from './run-installed.ts';

const execute = promisify(execFile);

async function contents(): Promise<readonly string[]> {
  const { stdout } = await execute('tar', ['-tzf', inject('installed').tarball]);
  return stdout.trimEnd().split('\n');
}

test('[PK1] the package contains what runs, and no sources, tests or maps', async () => {
  const paths = await contents();
  for (const path of ['agent/bin/lockstep.js', 'agent/bundle/main.js', 'dashboard/dist/index.html', 'LICENSE']) {
    expect(paths).toContain(`package/${path}`);
  }
  expect(
    paths.filter((path) => /\.tsx?$|\.map$|\.tsbuildinfo$|\.test\.|\.contract\.|\/sim\/|node_modules/.test(path)),
  ).toEqual([]);
});

test('[PK1] the package contains the modules of the program, and each can be loaded', async () => {
  const root = join(inject('installed').prefix, 'lib', 'node_modules', 'lockstep');
  const bundle = await readdir(join(root, 'agent', 'bundle'));
  const modules = bundle.filter((name) => name.endsWith('.js'));
  expect(modules).toEqual(expect.arrayContaining(['main.js', 'worker.js']));

  // These run when they are loaded; the members below load them.
  const loads = modules
    .filter((name) => name !== 'main.js' && name !== 'worker.js')
    .map((name) => `await import('./agent/bundle/${name}');`);
  await writeFile(join(root, 'load-all.mjs'), loads.join('\n'));
  try {
    await execute(process.execPath, ['load-all.mjs'], { cwd: root });
  } finally {
    await rm(join(root, 'load-all.mjs'));
  }
});

test('[PK1] the package contains the licenses of the packages that are part of the bundle', async () => {
  const root = join(inject('installed').prefix, 'lib', 'node_modules', 'lockstep');
  const licenses = await readFile(join(root, 'agent', 'bundle', 'LICENSES.md'), 'utf8');
  for (const name of ['fastify', 'ws', 'zod', 'chokidar']) expect(licenses).toContain(`\n## ${name} - `);
});

test('[PK2] its dependencies are installed in the versions that the tests ran with', async () => {
  const lock = JSON.parse(await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { name?: string; version?: string }>;
  };
  const tested = new Set(
    Object.entries(lock.packages).map(
      ([path, { name, version }]) => `${name ?? path.replace(/.*node_modules\//, '')}@${version}`,
    ),
  );
  const { prefix } = inject('installed');
  const { stdout } = await execute('npm', ['ls', '--all', '--parseable', '--long', '--global', '--prefix', prefix]);
  const installed = stdout
    .split('\n')
    .flatMap((line) => /node_modules\/lockstep\/node_modules\/.*?:(?:\S+@npm:)?(\S+?@[^:@]+)/.exec(line)?.[1] ?? []);
  expect(installed.some((name) => name.startsWith('better-sqlite3@'))).toBe(true);
  expect(installed.filter((name) => !tested.has(name))).toEqual([]);
});

test('[PK4] without the SQLite for this Node, a command says what to do', async () => {
  const { prefix, space } = inject('installed');
  const [module, away] = [
    join(prefix, 'lib', 'node_modules', 'lockstep', 'node_modules', sqlitePackage),
    join(space, 'away'),
  ];
  await rename(module, away);
  try {
    const { code, out, err } = await runInstalled(['--version']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^lockstep: SQLite for Node [\d.]+ cannot be loaded \(Cannot find module .*Install Lockstep again with this Node.*\n$/,
    );
  } finally {
    await rename(away, module);
  }
});

test('[CL7] man finds the manual page, and the page names every command', async () => {
  const page = await readFile(join(inject('installed').prefix, 'share', 'man', 'man1', 'lockstep.1'), 'utf8');
  const { out } = await runInstalled(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z]+) (?:\[options\] )?[[<]/gm)].flatMap(([, name = '']) => name);
  expect(commands).toContain('doctor');
  for (const name of commands) if (name !== 'help') expect(page).toContain(`.SS lockstep ${name} `);
});

test('[PK1] two members run from the installed package, with the page', async () => {
  const space = await mkdtemp(join(inject('installed').space, 'two-'));
  const [ant, bee] = [join(space, 'ant'), join(space, 'bee')];
  const port = await freePort();
  await mkdir(ant);
  await mkdir(bee);
  const antArgs = ['--name', 'ant', '--listen', `127.0.0.1:${port}`, '--dashboard', '127.0.0.1:0'];
  expect(await runInstalled(['init', ant, ...antArgs])).toMatchObject({ code: 0 });
  const key = join(ant, '.lockstep', 'cluster.key');
  const beeArgs = ['--name', 'bee', '--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0'];
  const joining = ['--cluster-key-file', key, '--peer', `127.0.0.1:${port}`];
  expect(await runInstalled(['init', bee, ...beeArgs, ...joining])).toMatchObject({ code: 0 });

  const url = await upInstalled(ant);
  await upInstalled(bee);
  await writeFile(join(ant, 'hello'), 'from the package');
  await vi.waitFor(async () => {
    const { code, out } = await runInstalled(['wait', '--for', '2', ant]);
    expect(out).toContain('Done: durable on 2 of 2 members');
    expect(code).toBe(0);
  }, 60_000);
  expect(await readFile(join(bee, 'hello'), 'utf8')).toBe('from the package');

  const page = await fetch(url);
  expect(page.status).toBe(200);
  const script = /<script[^>]* src="([^"]+)"/.exec(await page.text())?.[1] ?? 'none';
  expect((await fetch(new URL(script, url))).status).toBe(200);
});

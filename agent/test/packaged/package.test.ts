import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test, vi } from 'vitest';
import { freePort } from '../../../testkit/free-port.ts';
import { runInstalled, upInstalled } from './run-installed.ts';

const execute = promisify(execFile);

async function contents(): Promise<readonly string[]> {
  const { stdout } = await execute('tar', ['-tzf', inject('installed').tarball]);
  return stdout.trimEnd().split('\n');
}

test('[PK1] the package contains what runs, and no sources, tests or maps', async () => {
  const paths = await contents();
  for (const path of ['agent/bin/lockstep.js', 'agent/dist/cli/main.js', 'dashboard/dist/index.html', 'LICENSE']) {
    expect(paths).toContain(`package/${path}`);
  }
  expect(
    paths.filter((path) => /\.tsx?$|\.map$|\.tsbuildinfo$|\.test\.|\.contract\.|\/sim\/|node_modules/.test(path)),
  ).toEqual([]);
});

/** The paths of the modules that a module names by a relative path in any string. */
function named(path: string, text: string): readonly string[] {
  return [...text.matchAll(/['"](\.{1,2}\/[^'"]*\.js)['"]/g)].map(([, name = '']) =>
    posix.join(posix.dirname(path), name),
  );
}

test('[PK1] the package contains the modules that the program needs and no others, and each can be loaded', async () => {
  const root = join(inject('installed').prefix, 'lib', 'node_modules', 'lockstep');
  const paths = (await readdir(root, { recursive: true })).filter(
    (path) => path.endsWith('.js') && !/^(node_modules|dashboard)\//.test(path),
  );
  const needed = new Set(['agent/bin/lockstep.js']);
  for (const path of needed) {
    for (const other of named(path, await readFile(join(root, path), 'utf8'))) needed.add(other);
  }
  expect(paths.toSorted()).toEqual([...needed].toSorted());

  // These run when they are loaded; the members below load them.
  const running = /\/(lockstep|main|worker)\.js$/;
  const loads = paths.filter((path) => !running.test(path)).map((path) => `await import('./${path}');`);
  await writeFile(join(root, 'load-all.mjs'), loads.join('\n'));
  try {
    await execute(process.execPath, ['load-all.mjs'], { cwd: root });
  } finally {
    await rm(join(root, 'load-all.mjs'));
  }
});

test('[PK2] its dependencies are installed in the versions that the tests ran with', async () => {
  const lock = JSON.parse(await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const tested = new Set(
    Object.entries(lock.packages).map(([path, { version }]) => `${path.replace(/.*node_modules\//, '')}@${version}`),
  );
  const { prefix } = inject('installed');
  const { stdout } = await execute('npm', ['ls', '--all', '--parseable', '--long', '--global', '--prefix', prefix]);
  const installed = stdout
    .split('\n')
    .flatMap((line) => /node_modules\/lockstep\/node_modules\/.*?:(\S+?@[^:@]+)/.exec(line)?.[1] ?? []);
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.filter((name) => !tested.has(name))).toEqual([]);
});

test('[CL7] man finds the manual page, and the page names every command', async () => {
  const page = await readFile(join(inject('installed').prefix, 'share', 'man', 'man1', 'lockstep.1'), 'utf8');
  const { out } = await runInstalled(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z]+) (?:\[options\] )?[[<]/gm)].flatMap(([, name = '']) => name);
  expect(commands).toContain('doctor');
  for (const name of commands) if (name !== 'help') expect(page).toContain(`.SS lockstep ${name} `);
});

test('[PK1] two members run from the installed package, with the page', { timeout: 120_000 }, async () => {
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pageItemsMax, statusSchema } from '@lockstep/shared/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';

const program = fileURLToPath(new URL('../bin/lockstep.js', import.meta.url));

let root = '';
let ant = '';
let children: ChildProcess[] = [];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-cli-')));
  ant = join(root, 'ant');
  await mkdir(ant);
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  children = [];
  await rm(root, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function launch(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, FORCE_COLOR: '0', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function lockstep(args: readonly string[], options: Parameters<typeof launch>[1] = {}): Promise<Outcome> {
  const child = launch(args, options);
  child.stdin.end();
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Moves a complete file to `path`: an agent cannot see it between its creation and its write, which would be two operations. */
async function place(path: string, content: string): Promise<void> {
  const outside = join(root, 'outside');
  await writeFile(outside, content);
  await rename(outside, path);
}

/** Starts an agent and resolves when it is ready. */
async function up(directory: string, args: readonly string[] = []) {
  const child = launch(['up', directory, ...args]);
  const out = new Promise<string>((resolve, reject) => {
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
      if (/^ready$/m.test(seen)) resolve(seen);
    });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk;
    });
    child.once('close', (code) => reject(new Error(`up ended with ${code}: ${seen}${err}`)));
  });
  return { child, out: await out };
}

const init = (directory: string, ...more: string[]) =>
  lockstep(['init', directory, '--name', 'ant', '--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0', ...more]);

describe('[CL5] exit codes without an agent', () => {
  const cases: readonly (readonly [args: readonly string[], code: number, said: string | RegExp])[] = [
    [['--help'], 0, 'Exit codes: 0 done, 1 not done, 2 wrong use.'],
    [['init', '--help'], 0, '--cluster-key-file <FILE>'],
    [['--version'], 0, /^\d+\.\d+\.\d+/],
    [[], 2, 'Usage: lockstep'],
    [['frobnicate'], 2, "unknown command 'frobnicate'"],
    [['up', '--frobnicate'], 2, "unknown option '--frobnicate'"],
    [['why'], 2, "missing required argument 'PATH'"],
    [['replay'], 2, "required option '--into <DIR>' not specified"],
    [['wait', '--for', 'some'], 2, '--for must be all, majority or a number'],
    [['wait', '--timeout', '-1'], 2, '--timeout must be seconds'],
    [['log', '--lines', 'x'], 2, '--lines must be a whole number'],
    [['init', '.', '--name', 'a/b'], 2, '--name must be'],
    [['init', '.', '--listen', 'junk'], 2, '--listen must be'],
    [['init', 'new', '--peer', 'bee:4700'], 2, '(scp bee:DIR/.lockstep/cluster.key .) and add --cluster-key-file'],
    [['status'], 1, 'lockstep init'],
    [['status', 'none'], 1, 'does not exist'],
    [['up'], 1, 'lockstep init'],
  ];
  test.each(cases)('%j ends with %d', async (args, code, said) => {
    const outcome = await lockstep(args);
    expect(outcome.out + outcome.err).toMatch(said);
    expect(outcome.code).toBe(code);
  });

  test('commands that need the agent say how to start it', async () => {
    expect((await init(ant)).code).toBe(0);
    for (const args of [['status'], ['members'], ['why', 'x'], ['wait'], ['leave']]) {
      const outcome = await lockstep(args, { cwd: ant });
      expect(outcome, args[0] ?? '').toMatchObject({ code: 1, err: expect.stringContaining(`lockstep up ${ant}`) });
    }
  });
});

test('[CL5] an invalid setting is wrong use wherever it is given', async () => {
  await init(ant);
  for (const command of ['up', 'config']) {
    expect(await lockstep([command, ant, '--listen', 'junk']), command).toMatchObject({
      code: 2,
      err: expect.stringContaining('--listen must be'),
    });
  }
});

test('[CL1] config shows the effective settings and their sources, and names the line of a mistake', async () => {
  await init(ant);
  const options = { cwd: ant, env: { LOCKSTEP_HISTORY_SIZE: '2 GiB' } };
  const { out } = await lockstep(['config', '--json', '--peer', 'bee:1', '--peer', 'cat:2'], options);
  expect(JSON.parse(out).settings).toEqual(
    expect.arrayContaining([
      { key: 'name', value: 'ant', source: { kind: 'file', where: expect.stringMatching(/^config\.toml:\d+$/) } },
      { key: 'history_size', value: '2 GiB', source: { kind: 'environment', where: 'LOCKSTEP_HISTORY_SIZE' } },
      { key: 'peers', value: ['bee:1', 'cat:2'], source: { kind: 'flag', where: '--peer' } },
      { key: 'log_level', value: 'warn', source: { kind: 'default', where: '' } },
    ]),
  );
  const file = join(ant, '.lockstep', 'config.toml');
  await writeFile(file, '# mine\nlisten = "nowhere"\n');
  expect(await lockstep(['config', ant])).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${file}:2: listen must be`),
  });
  // The services of the package do not restart after a 2.
  expect(await lockstep(['up', ant])).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${file}:2: listen must be`),
  });
});

test('[CL6] a missing config.toml does not mean the defaults, and config --write writes a new one', async () => {
  await init(ant);
  const file = join(ant, '.lockstep', 'config.toml');
  const given = ['--name', 'ant', '--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0'];
  expect(await lockstep(['config', '--write', ...given, ant])).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${file} already exists`),
  });
  await rm(file);
  for (const command of ['up', 'config']) {
    expect(await lockstep([command, ant]), command).toMatchObject({
      code: 1,
      err: expect.stringMatching(/config\.toml is missing.*\n.*lockstep config --write/),
    });
  }
  const { code, out } = await lockstep(['config', '--write', '--json', ...given, ant]);
  expect(code).toBe(0);
  expect(JSON.parse(out).settings).toContainEqual({
    key: 'listen',
    value: '127.0.0.1:0',
    source: { kind: 'file', where: expect.stringMatching(/^config\.toml:\d+$/) },
  });
  expect((await up(ant)).out).toMatch(/^member +ant$/m);
});

describe('with an agent', () => {
  test('[CL4] up serves until SIGTERM, a second up names the first', async () => {
    await init(ant);
    const { child, out } = await up(ant);
    expect(out).toMatch(/^dashboard +http:\/\/127\.0\.0\.1:\d+/m);
    expect(await lockstep(['up', ant])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`process ${child.pid}`),
    });
    child.kill('SIGTERM');
    expect((await once(child, 'close'))[0]).toBe(0);
    expect((await lockstep(['status', ant])).code).toBe(1);
  });

  test('[CL4] up stops when its input ends, if so requested, and can be restarted after SIGKILL', async () => {
    await init(ant);
    const first = await up(ant, ['--stop-with-input']);
    first.child.stdin.end();
    expect((await once(first.child, 'close'))[0]).toBe(0);
    const second = await up(ant);
    second.child.kill('SIGKILL');
    await once(second.child, 'close');
    await up(ant);
  });

  test('[CL5] every command works', async () => {
    await init(ant);
    await up(ant);
    await place(join(ant, 'note.txt'), 'hello');
    expect(await lockstep(['wait', '--for', 'all', '--timeout', '60'], { cwd: ant })).toMatchObject({
      code: 0,
      err: '',
    });

    // A hint of the watcher that comes after the wait counts as a change until it was examined.
    await eventually(async () => {
      const status = statusSchema.parse(JSON.parse((await lockstep(['status', '--json', ant])).out));
      expect(status).toMatchObject({ member: { name: 'ant' }, files: 1, synchronised: true, problems: [] });
    });
    expect((await lockstep(['status'], { cwd: ant })).out).toContain('1 file');
    expect((await lockstep(['members', ant])).out).toContain('ant (here)');
    expect((await lockstep(['log', ant])).out).toContain('wrote note.txt (5 B)');
    expect(JSON.parse((await lockstep(['log', '--json', '--path', 'note.txt'], { cwd: ant })).out)).toMatchObject({
      size: 5,
    });
    await mkdir(join(ant, 'docs'));
    await writeFile(join(ant, 'docs', 'inside.txt'), 'hello');
    await lockstep(['wait', ant]);
    const below = (await lockstep(['log', '--each', '--path', 'docs'], { cwd: ant })).out;
    expect(below).toMatch(/made directory docs$/m);
    expect(below).toMatch(/wrote docs\/inside\.txt/);
    expect(below).not.toContain('note.txt');
    expect((await lockstep(['why', 'note.txt'], { cwd: ant })).out).toContain('note.txt is on this disk');
    expect((await lockstep(['verify', ant])).out).toContain('Everything agrees');
    expect(await lockstep(['replay', ant, '--into', 'again'])).toMatchObject({ code: 0 });
  });

  test('[AK7] a wait that cannot end is refused, and `why` names an unknown path', async () => {
    await init(ant);
    await writeFile(join(ant, '.lockstepignore'), '*.tmp\n');
    await up(ant);
    await writeFile(join(ant, 'note.txt'), 'hello');
    await writeFile(join(ant, 'kept.tmp'), 'out');
    expect((await lockstep(['wait', 'ant/note.txt', '--for', '1'])).code).toBe(0);
    expect(await lockstep(['wait', 'ant/note.txt', '--for', '2'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('2 members were asked for, and the cluster has 1.'),
    });
    expect(await lockstep(['wait', 'ant/nowhere'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is nothing at nowhere in the folder of ant'),
    });
    expect(await lockstep(['wait', 'ant/kept.tmp'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('kept.tmp is kept out by a rule of .lockstepignore'),
    });
    expect((await lockstep(['why', 'ant/nowhere'])).out).toBe(
      'nowhere is not known: it is not in this folder, and no member has reported it\n',
    );
    await rm(join(ant, 'note.txt'));
    expect((await lockstep(['wait', 'ant/note.txt'])).code).toBe(0);
  });

  test('[RP1] [RP2] log, verify and replay also work without the agent, and find mistakes', async () => {
    await init(ant);
    const { child } = await up(ant);
    await writeFile(join(ant, 'note.txt'), 'hello');
    await writeFile(join(ant, 'lost.txt'), 'lost');
    await lockstep(['wait', '--for', 'all'], { cwd: ant });
    child.kill('SIGTERM');
    await once(child, 'close');

    const note = expect.stringContaining('No agent runs');
    expect(await lockstep(['log', ant])).toMatchObject({
      code: 0,
      err: note,
      out: expect.stringContaining('wrote note.txt'),
    });
    expect(await lockstep(['verify', ant])).toMatchObject({ code: 0, err: note });
    await writeFile(join(ant, 'note.txt'), 'other');
    await rm(join(ant, 'lost.txt'));
    const verify = await lockstep(['verify', '--json', ant]);
    expect(verify.code).toBe(1);
    expect(JSON.parse(verify.out)).toMatchObject({ ok: false, heads: { differing: 0 }, disk: { differing: 2 } });
    const replay = await lockstep(['replay', '--json', ant, '--into', 'again']);
    expect(replay.code).toBe(1);
    const missing: readonly { path: string }[] = JSON.parse(replay.out).missing;
    expect(missing.map(({ path }) => path)).toEqual(['lost.txt', 'note.txt']);
    expect(await readdir(join(root, 'again'))).toEqual([]);
    expect((await lockstep(['replay', ant, '--into', join(ant, 'again')])).code).toBe(2);
  });

  test('[CL12] log -n counts lines, and a group says how many operations it has', async () => {
    await init(ant);
    await mkdir(join(ant, 'old'));
    // More operations than one page of the log.
    const files = Array.from({ length: pageItemsMax }, (_, index) => join(ant, 'old', `f${index}`));
    await Promise.all(files.map((file) => writeFile(file, '')));
    await up(ant);
    await rename(join(ant, 'old'), join(ant, 'new'));
    await lockstep(['wait', ant]);
    await place(join(ant, 'note.txt'), 'hello');
    await lockstep(['wait', ant]);
    const lines = (await lockstep(['log', '-n', '2', ant])).out.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    const more = (2 * (pageItemsMax + 1) - 1).toLocaleString('en');
    expect(lines[0]).toMatch(new RegExp(`renamed old to new and ${more} more operations with it$`));
    expect(lines[1]).toMatch(/wrote note\.txt/);
    expect((await lockstep(['log', '--each', '-n', '2', ant])).out.trimEnd().split('\n')).toHaveLength(2);
    expect((await lockstep(['log', '-n', '0', ant])).out).toBe('');
  });

  test('[CL28] log --follow prints each operation once, also after a restart of the agent', async () => {
    await init(ant);
    const { child } = await up(ant);
    await mkdir(join(ant, 'in'));
    await lockstep(['wait', ant]);
    const following = launch(['log', '--follow', '--json', '--path', 'in', ant]);
    let out = '';
    following.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    const said = once(following.stderr.setEncoding('utf8'), 'data');
    const paths = () =>
      out
        .trimEnd()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).path);
    await eventually(() => expect(paths()).toEqual(['in']));
    await place(join(ant, 'outside.txt'), '0');
    await place(join(ant, 'in', 'one.txt'), '1');
    await eventually(() => expect(paths()).toEqual(['in', 'in/one.txt']));
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await said).toEqual([expect.stringContaining('This command waits for it.')]);
    await place(join(ant, 'in', 'two.txt'), '2');
    await up(ant);
    await place(join(ant, 'in', 'three.txt'), '3');
    await eventually(() => expect(paths()).toContain('in/three.txt'));
    expect(paths().toSorted()).toEqual(['in', 'in/one.txt', 'in/three.txt', 'in/two.txt']);
    following.kill('SIGINT');
    expect((await once(following, 'close'))[0]).toBe(0);
  });

  test('[CL5] leave retires the member and ends its agent', async () => {
    await init(ant);
    const { child } = await up(ant);
    const ended = once(child, 'close');
    expect(await lockstep(['leave', ant])).toMatchObject({
      code: 0,
      out: expect.stringContaining('has left the cluster'),
    });
    expect((await ended)[0]).toBe(0);
    for (const command of ['status', 'members']) {
      expect(await lockstep([command, ant]), command).toMatchObject({
        code: 1,
        err: expect.stringContaining(
          `has left the cluster, and its files stay in ${ant}. To join again: lockstep up --rejoin ${ant}`,
        ),
      });
    }
  });
});

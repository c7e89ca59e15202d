import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { run } from '../../testkit/programs.ts';
import { lockstepProgram, repositoryRoot } from '../../testkit/repository.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

type Outcomes = Record<string, readonly unknown[]>;

const script = join(repositoryRoot, 'agent/test/support/file-system-cases.py');

/** The steps whose outcome differs from that in a local directory, as docs/MOUNT.md says: by case and number. */
const differences: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  // A file has at most 512 GiB. A local file system may take more, and less than these offsets.
  too_large: {
    ...Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((step) => [step, 'EFBIG'])),
    ...{ 8: 1, 9: 'EFBIG', 10: 'EFBIG', 11: 'ok', 12: '123456', 13: 'ok', 14: 'file 0o666 6' },
  },
  link_00: { 0: 'EPERM', 2: 'EPERM' },
  mkfifo_00: { 0: 'EPERM' },
  mknod_00: { 3: 'EPERM' },
  chown_00: { 3: 'EPERM' },
  // A file that its user may write and not read (mode 0200): it cannot be replicated.
  open_06: { 26: 'EACCES', 38: 'EACCES', 39: 'file 0o200 5' },
};

/** The cases are a program in Python: Node has no calls for some of them. */
const pythonLacks = spawnSync('python3', ['--version'], { stdio: 'ignore' }).status !== 0;

async function outcomesIn(directory: string): Promise<Outcomes> {
  return JSON.parse(await run('python3', [script, directory])) as Outcomes;
}

/** The outcomes that a mount must have, by those in a local directory. */
function expectedBy(local: Outcomes): Outcomes {
  return Object.fromEntries(
    Object.entries(local).map(([name, steps]) => [
      name,
      steps.map((outcome, index) => differences[name]?.[index] ?? outcome),
    ]),
  );
}

/** A user who is not root, and the Python of the system: one of root's may be closed to them. */
const nobody = { uid: 65_534, gid: 65_534 };
const asNobody = ['setpriv', `--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, '--clear-groups'] as const;
const python = '/usr/bin/python3';
const nobodyLacks =
  process.getuid?.() !== 0 ||
  spawnSync(asNobody[0], [...asNobody.slice(1), python, script, '/dev/null/none'], { stdio: 'ignore' }).status !== 1 ||
  spawnSync(asNobody[0], [...asNobody.slice(1), process.execPath, lockstepProgram, '--version']).status !== 0;

async function outcomesInMount(member: Member): Promise<Outcomes> {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-calls-'));
  const mount = await Mount.open(member, join(root, 'point'));
  onTestFinished(async () => {
    await mount.close();
    rmSync(root, { recursive: true });
  });
  const directory = mount.path(`calls-of-${member.name}`);
  mkdirSync(directory);
  return outcomesIn(directory);
}

describe.skipIf(pythonLacks)('system calls (needs python3)', () => {
  const cluster = useCluster(['ant']);
  let expected: Outcomes;

  beforeAll(async () => {
    const local = mkdtempSync(join(tmpdir(), 'lockstep-calls-'));
    expected = expectedBy(await outcomesIn(local));
    rmSync(local, { recursive: true });
  });

  test('[FM6] [FM9] have the outcomes and the errors that they have in a local directory', async () => {
    expect(Object.keys(expected).length).toBeGreaterThan(30);
    expect(await outcomesInMount(cluster().member('ant'))).toEqual(expected);
  });

  test('[FM6] [FM9] [OD12] have them also in the mount of a member on demand', async () => {
    const cow = await cluster().add('cow', { start: { env: { LOCKSTEP_CONTENT: 'on-demand' } } });
    expect(await outcomesInMount(cow)).toEqual(expected);
  });
});

/**
 * Root may do everything, so the cases of permissions need another user, who has a member and its mount. The cluster's directory is
 * closed to them.
 */
describe.skipIf(nobodyLacks)('system calls of another user (needs root, setpriv and python3)', () => {
  const cluster = useCluster(['ant']);
  let root: string;

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'lockstep-nobody-'));
    chmodSync(root, 0o755);
    // Python does not need the rest of the repository.
    copyFileSync(script, join(root, 'cases.py'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  async function outcomesOfNobody(directory: string): Promise<Outcomes> {
    return JSON.parse(await run(python, [join(root, 'cases.py'), directory], { ...nobody, cwd: root })) as Outcomes;
  }

  async function mountOfNobody(name: string, env: Record<string, string>): Promise<Mount> {
    const start = { env, wrapper: asNobody };
    const member = await cluster().add(name, { folder: join(root, name), start, up: false });
    await run('chown', ['-R', `${nobody.uid}:${nobody.gid}`, member.folder]);
    await member.start();
    const mount = await Mount.open(member, join(root, `point-${name}`), nobody);
    onTestFinished(async () => {
      await mount.close();
      await member.kill();
    });
    return mount;
  }

  test.each([
    ['[FM10]', 'bee', {}],
    ['[FM10] [OD12] on a member on demand', 'cow', { LOCKSTEP_CONTENT: 'on-demand' }],
  ])('%s have the outcomes and the errors that they have in a local directory', async (_name, name, env) => {
    const local = join(root, `local-${name}`);
    mkdirSync(local);
    chownSync(local, nobody.uid, nobody.gid);
    const expected = expectedBy(await outcomesOfNobody(local));
    expect(Object.keys(expected).length).toBeGreaterThan(40);
    const mount = await mountOfNobody(name, env);
    const directory = mount.path(`calls-of-${name}`);
    await run('mkdir', [directory], nobody);
    expect(await outcomesOfNobody(directory)).toEqual(expected);
    // Not even root.
    for (const call of [() => statSync(mount.point), () => readdirSync(mount.point), () => mkdirSync(mount.path('d'))])
      expect(call).toThrow('EACCES');
  });

  test('[FM10] another user than that of the mount gets EACCES for everything in it', async () => {
    const mount = await Mount.open(cluster().member('ant'), join(root, 'point-ant'));
    onTestFinished(() => mount.close());
    writeFileSync(mount.path('open-to-all'), 'x', { mode: 0o666 });
    for (const words of [
      'stat .',
      'ls .',
      'cat open-to-all',
      'touch new',
      'rm -f open-to-all',
      'chmod 600 open-to-all',
    ]) {
      const [program = '', ...args] = words.split(' ');
      const paths = args.map((word) => (word.startsWith('-') || word === '600' ? word : mount.path(word)));
      await expect(run(program, paths, { ...nobody, env: { LC_ALL: 'C' } })).rejects.toThrow('Permission denied');
    }
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { Mount } from '../../testkit/mount.ts';
import { run } from '../../testkit/programs.ts';
import { repositoryRoot } from '../../testkit/repository.ts';
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
};

/** The cases are a program in Python: Node has no calls for some of them. */
const pythonLacks = spawnSync('python3', ['--version'], { stdio: 'ignore' }).status !== 0;

async function outcomesIn(directory: string): Promise<Outcomes> {
  return JSON.parse(await run('python3', [script, directory])) as Outcomes;
}

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
    const outcomes = await outcomesIn(local);
    expected = Object.fromEntries(
      Object.entries(outcomes).map(([name, steps]) => [
        name,
        steps.map((outcome, index) => differences[name]?.[index] ?? outcome),
      ]),
    );
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

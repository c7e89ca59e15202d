import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

test('[CL20] if its folder thread ends, an agent ends with 1 and a sentence, and its next start continues', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  await bee.restart({ env: { LOCKSTEP_FAULT: 'exit:rename' }, ready: false });
  await writeFile(ant.path('written'), 'on ant');
  await bee.ended();
  await eventually(() => expect(bee.log).toContain('--- bee ended with 1'));
  expect(bee.log).toContainEqual(
    expect.stringMatching(/^lockstep: The thread that reads and writes the folder ended \(.*start it again/),
  );
  await bee.start();
  await cluster().settled();
  expect(await readFile(bee.path('written'), 'utf8')).toBe('on ant');
});

test('[CL21] an agent reports that its folder thread hangs, until the thread continues', async () => {
  const [ant, bee] = [cluster().member('ant'), cluster().member('bee')];
  const hold = join(cluster().root, 'hold');
  await bee.restart({ env: { LOCKSTEP_FAULT: `hold:rename:${hold}` } });
  await cluster().connected();
  await writeFile(hold, '');
  await writeFile(ant.path('hangs'), 'on ant');
  await eventually(
    async () => {
      const problem = (await bee.status()).problems.find(({ code }) => code === 'folder-stalled');
      expect(problem?.detail).toMatch(/has made no progress for \d\d s/);
    },
    { timeoutMs: 90_000 },
  );
  expect(await ant.wait({ for: 'all', timeoutMs: 300 })).toMatchObject({ done: false });
  await rm(hold);
  await eventually(async () => expect(await bee.problems()).toEqual([]));
  await cluster().settled();
  expect(await readFile(bee.path('hangs'), 'utf8')).toBe('on ant');
  await bee.restart();
});

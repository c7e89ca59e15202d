import type { Operation } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { openTestMember, ScriptedPeer } from '../../../test/support/scripted-peer.ts';
import { isConflictPath } from '../../core/conflict-name.ts';
import { worldBeganMs } from '../../sim/base/sim-clock.ts';

/** Zoe and ant make a link at the same path concurrently, and cat overwrites ant's knowingly. Zoe has ant's operation, not cat's. */
async function withoutCats() {
  const [ant, cat] = [new ScriptedPeer('a'), new ScriptedPeer('c')];
  const member = openTestMember([ant]);
  const { engine, journal, volume, until } = member;
  void engine.start();
  expect(await until(() => engine.lifecycle.state === 'active', 10_000)).toBe(true);
  volume.disk.symlink('link', 'by zoe');
  expect(await until(() => journal.heads.at('link').length === 1, 10_000)).toBe(true);
  const later = (ms: number, operation: Pick<Operation, 'origin' | 'target' | 'version'>): Operation => ({
    seq: 1,
    hlc: (worldBeganMs + 60_000 + ms) * 1024,
    kind: 'symlink',
    path: 'link',
    mtimeUs: 1_000_000,
    ...operation,
  });
  const byAnt = later(0, { origin: ant.origin, target: 'by ant', version: { vector: { [ant.origin]: 1 } } });
  const byCat = later(1, {
    origin: cat.origin,
    target: 'by cat',
    version: { vector: { [ant.origin]: 1, [cat.origin]: 1 } },
  });
  ant.known = { [ant.origin]: 1, [cat.origin]: 1 };
  ant.say(ant.heartbeat());
  ant.sayOperations([byAnt]);
  expect(await until(() => journal.heads.at('link').length === 2, 1_000)).toBe(true);
  const copies = (): readonly (string | undefined)[] =>
    journal.heads
      .under('', undefined, 100)
      .filter(({ path }) => isConflictPath(path))
      .map(({ target }) => target);
  return { ant, byCat, copies, ...member };
}

test('[CF10] siblings are not joined until this member knows what the others know: an overwritten one gets no copy', async () => {
  const { ant, byCat, copies, journal, until } = await withoutCats();
  expect(await until(() => journal.totals.counts().contested === 0, 5_000)).toBe(false);
  ant.sayOperations([byCat]);
  expect(await until(() => journal.totals.counts().contested === 0, 5_000)).toBe(true);
  expect(journal.heads.at('link')).toMatchObject([{ target: 'by cat' }]);
  expect(copies()).toEqual(['by zoe']);
});

test('[CF10] the wait for operations that no member sends ends', async () => {
  const { copies, journal, until } = await withoutCats();
  expect(await until(() => journal.totals.counts().contested === 0, 20_000)).toBe(true);
  expect(journal.heads.at('link')).toMatchObject([{ target: 'by ant' }]);
  expect(copies()).toEqual(['by zoe']);
});

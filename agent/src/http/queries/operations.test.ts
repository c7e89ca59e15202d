import { memberOf, type OriginId } from '@lockstep/shared';
import type { OperationReport } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { ServedCluster } from '../../../test/support/served-cluster.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { readPath } from './folder/path.ts';
import { readOperations } from './operations.ts';

function authorship({ kind, writer, conflict }: OperationReport) {
  return { kind, writer: writer?.memberName, conflict };
}

test('[DB-J9] who settled a conflict is not its author: those are who wrote the two versions', async () => {
  const served = await ServedCluster.open(['ant', 'bee', 'cat']);
  const { cluster, engine } = served;
  await served.write('notes.txt', 'first');
  for (const name of ['bee', 'cat']) cluster.user(name).write('notes.txt', name, contentOfText(`by ${name}`));
  await cluster.until(() => engine.context.journal.totals.counts().files === 2);
  await served.settled();

  const { operations } = readOperations(engine, { limit: 100 });
  const settled = operations.filter(({ conflict }) => conflict !== undefined);
  const versions = settled.map(({ conflict }) => conflict?.version);
  expect(versions.toSorted()).toEqual(['copied', 'kept']);
  expect(settled.map(({ conflict }) => conflict?.path)).toEqual(['notes.txt', 'notes.txt']);
  const head = readPath(engine, 'notes.txt').heads[0];
  const kept = head?.writer?.memberName;
  expect(['bee', 'cat']).toContain(kept);
  const copy = settled.find(({ conflict }) => conflict?.version === 'copied');
  // The resolver is the loser's origin here, so its copy is its own operation of what it wrote itself.
  const copied = copy && (copy.writer?.memberName ?? engine.peers.nameOf(memberOf(copy.origin as OriginId)));
  expect([kept, copied].toSorted()).toEqual(['bee', 'cat']);
});

test('a file that a user gave the name of a conflict copy settled nothing', async () => {
  const served = await ServedCluster.open();
  await served.write('notes.conflict-20260101T000000000Z-bee.txt', 'mine');
  const { operations } = readOperations(served.engine, { limit: 100 });
  expect(operations.filter(({ kind }) => kind === 'put').map(authorship)).toEqual([{ kind: 'put' }]);
});

test('of a change of mode the author of the content is known', async () => {
  const served = await ServedCluster.open(['ant', 'bee']);
  await served.write('run.sh', 'echo');
  served.cluster.user('bee').chmod('run.sh', 0o755);
  await served.cluster.until(() => readOperations(served.engine, { limit: 1 }).operations[0]?.kind === 'attr');
  const [newest] = readOperations(served.engine, { limit: 1 }).operations;
  expect(newest && authorship(newest)).toEqual({ kind: 'attr', writer: 'ant' });
});

test('[DB-C8] of an operation that removed or renamed a conflict copy the conflict is named', async () => {
  const served = await ServedCluster.open();
  const copy = (name: string) => `${name}.conflict-20260101T000000000Z-bee.txt`;
  for (const path of [copy('a'), copy('b'), 'c.txt']) await served.write(path, path);
  const user = served.cluster.user('ant');
  user.remove(copy('a'));
  user.rename(copy('b'), 'b.txt');
  user.remove('c.txt');
  await served.settled();
  const { operations } = readOperations(served.engine, { limit: 100 });
  const settles = operations.filter((each) => each.settles !== undefined).map((each) => [each.path, each.settles]);
  expect(settles.toSorted()).toEqual([
    [copy('a'), copy('a')],
    [copy('b'), copy('b')],
    ['b.txt', copy('b')],
  ]);
});

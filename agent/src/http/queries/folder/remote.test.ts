import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../../../sim/lone-member.ts';
import type { Engine } from '../../../sync/engine.ts';
import { readRemote } from './remote.ts';

test('[OD20] a file whose old version is being removed is listed and found, once', async () => {
  const member = new LoneMember(undefined, { onDemand: true });
  const { context, journal } = member;
  const [a, b] = ['d/a', 'd/b'].map((path) =>
    member.operation(path, { kind: 'put', text: path }, { origin: 'bee' as OriginId }),
  ) as [ReturnType<typeof member.operation>, ReturnType<typeof member.operation>];
  member.received(a, b);
  const remote = ({ origin, seq }: typeof a) => ({ dot: { origin, seq }, remote: true });
  journal.disk.record([{ path: 'd/b', entry: remote(b) }]);
  const read = (name?: string) => {
    const { files } = readRemote({ engine: { context } as Engine }, { directory: 'd', name, limit: 10 });
    return files.map((file) => file.name).sort();
  };
  expect([read(), read('a')]).toEqual([['b'], []]);
  await context.remoteNames.whileLeaving(['d/a'], async () => {
    expect([read(), read('a')]).toEqual([['a', 'b'], ['a']]);
    journal.disk.record([{ path: 'd/a', entry: remote(a) }]);
    expect([read(), read('a')]).toEqual([['a', 'b'], ['a']]);
  });
  expect([read(), read('a')]).toEqual([['a', 'b'], ['a']]);
});

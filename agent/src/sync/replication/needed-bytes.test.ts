import type { ContentId, HelloMessage, MemberId, Operation } from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';
import { expect, test } from 'vitest';
import { CountedHoldings } from '../../core/cache/counted-holdings.ts';
import { HoldingsFilter } from '../../core/cache/holdings-filter.ts';
import { NeededBytes } from './needed-bytes.ts';

const contentOf = (name: string): ContentId => `b3:${blake3(Buffer.from(name)).toString('hex')}` as ContentId;
const id = 'c'.repeat(52) as MemberId;
const held = new CountedHoldings(1);
held.add(contentOf('held'));
const holdings = new HoldingsFilter(1, held.bits());

const put = (path: string, content: string, replaced?: string): Operation =>
  ({
    path,
    kind: 'put',
    content: contentOf(content),
    ...(replaced !== undefined && { replaced: contentOf(replaced) }),
  }) as Operation;

/** Those of the operations that go to a peer with their bytes, if the copies of `placed` are kept there. */
function carried(operations: readonly Operation[], onDemand: boolean, placed: readonly string[] = []): string[] {
  const hello = { ...(onDemand && { onDemand: true }) } as HelloMessage;
  const needed = new NeededBytes({ id, hello, holdings }, { isPlacedOn: ({ path }) => placed.includes(path) });
  return operations.filter((operation) => needed.includes(operation)).map(({ path }) => path);
}

test('[OD21] a member with the whole folder gets the bytes of all small files', () => {
  expect(carried([put('a', 'x'), put('b', 'y')], false)).toEqual(['a', 'b']);
});

test('[OD21] one on demand gets those of files that it has, of its copies, and of rules of what is ignored', () => {
  const operations = [put('new', 'x'), put('copy', 'y'), put('.lockstepignore', 'z'), put('kept', 'w', 'held')];
  expect(carried(operations, true, ['copy'])).toEqual(['copy', '.lockstepignore', 'kept']);
});

test('[OD21] it has what was just sent to it', () => {
  expect(carried([put('f', '1', 'held'), put('f', '2', '1'), put('f', '3', '2'), put('g', '2', '0')], true)).toEqual([
    'f',
    'f',
    'f',
  ]);
});

import type { Dot, MemberId, Operation, OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { conflictPath } from '../../core/conflict-name.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { Agreement } from '../members/agreement.ts';
import { Peer } from '../members/peer.ts';
import { ReplicaCount } from './replica-count.ts';
import { goalOf } from './wait-goal.ts';

const path = 'file.txt';

/** This member, which waits, and another one; both have journals of their own. */
class Pair {
  readonly ant = new LoneMember();
  readonly bee = new LoneMember();
  readonly peer = new Peer('bee' as MemberId, { agreement: new Agreement(this.ant.journal), nowWallMs: 0 });
  readonly beeOrigin = 'bee' as OriginId;

  /** Adds operations to both journals. */
  known(...operations: readonly Operation[]): void {
    this.ant.received(...operations);
    this.bee.received(...operations);
  }

  /** Records that the member's disk shows the operation. */
  shows(member: LoneMember, { path, origin, seq, content }: Operation): void {
    const fingerprint = { ino: seq, size: 1, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
    member.journal.disk.record([{ path, entry: { dot: { origin, seq }, content, fingerprint } }]);
  }

  /** Ant writes the file; bee does not have its content yet. */
  wrote(): Operation {
    const written = this.ant.operation(path, { kind: 'put', text: 'by ant' });
    this.known(written);
    this.shows(this.ant, written);
    return written;
  }

  wait(what: string | undefined): () => number {
    const holders = new ReplicaCount(this.ant.context, goalOf(this.ant.context, what));
    return () => {
      this.peer.known = this.bee.journal.log.known();
      this.peer.applied = this.bee.journal.applied();
      return holders.count([this.peer], true);
    };
  }
}

/** Events after ant's write while bee still fetches it. Each returns the operations that bee's disk must show to hold ant's content. */
const stories: Record<string, (pair: Pair, written: Operation) => readonly Operation[]> = {
  'nothing more': (_, written) => [written],
  'a change of its mode': ({ ant, beeOrigin: origin, ...pair }, written) => {
    const changed = ant.operation(
      path,
      { kind: 'attr', text: 'by ant', replaced: 'by ant' },
      { origin, parents: [written], keeps: [written] },
    );
    ant.received(changed);
    pair.bee.received(changed);
    return [changed];
  },
  'a join in which it keeps the name': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const other = ant.operation(path, { kind: 'put', text: 'by bee' }, { origin });
    pair.known(other);
    const copy = ant.operation(conflictPath(path, other.hlc, 'bee'), { kind: 'put', text: 'by bee' }, { origin });
    const joined = { origin, parents: [written, other], keeps: [written] };
    const join = ant.operation(path, { kind: 'put', text: 'by ant' }, joined);
    pair.known(copy, join);
    return [copy, join];
  },
  'a join in which it lost': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const other = ant.operation(path, { kind: 'put', text: 'by bee' }, { origin });
    pair.known(other);
    const copy = ant.operation(conflictPath(path, written.hlc, 'ant'), { kind: 'put', text: 'by ant' }, { origin });
    const joined = { origin, parents: [written, other], keeps: [other] };
    const join = ant.operation(path, { kind: 'put', text: 'by bee' }, joined);
    pair.known(copy, join);
    pair.shows(pair.bee, join);
    return [copy];
  },
  'two joins, one after the other': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const joined = { origin, parents: [written], keeps: [written] };
    const join = ant.operation(path, { kind: 'put', text: 'by ant' }, joined);
    pair.known(join);
    const again = ant.operation(path, { kind: 'put', text: 'by ant' }, { origin, parents: [join], keeps: [join] });
    pair.known(again);
    return [again];
  },
  'two joins, of which the second is known first': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const first = { origin: 'cat' as OriginId, parents: [written], keeps: [written] };
    const join = ant.operation(path, { kind: 'put', text: 'by ant' }, first);
    const again = ant.operation(path, { kind: 'put', text: 'by ant' }, { origin, parents: [join], keeps: [join] });
    pair.known(again);
    return [again];
  },
  'a rename': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const put = ant.operation('new-name', { kind: 'put', text: 'by ant' }, { origin });
    const moved: Operation = { ...put, from: path };
    const gone = ant.operation(path, { kind: 'delete' }, { origin, parents: [written] });
    pair.known(moved, gone);
    return [moved];
  },
  'a lost copy that a user has deleted': (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    const copy = ant.operation(conflictPath(path, written.hlc, 'ant'), { kind: 'put', text: 'by ant' }, { origin });
    const join = ant.operation(path, { kind: 'put', text: 'by bee' }, { origin, parents: [written] });
    const gone = ant.operation(copy.path, { kind: 'delete' }, { origin, parents: [copy] });
    pair.known(copy, join, gone);
    return [];
  },
  "a user's edit of it": (pair, written) => {
    const { ant, beeOrigin: origin } = pair;
    pair.known(
      ant.operation(path, { kind: 'put', text: 'edited', replaced: 'by ant' }, { origin, parents: [written] }),
    );
    return [];
  },
};

const dots = (operations: readonly Dot[]): readonly string[] => operations.map(({ origin, seq }) => `${origin}:${seq}`);

describe.each([
  ['everything', undefined],
  ['the path', path],
])('[AK6] a wait for %s', (_, what) => {
  test.each(Object.entries(stories))('%s', (__, story) => {
    const pair = new Pair();
    const written = pair.wrote();
    const holding = pair.wait(what);
    expect(holding()).toBe(1);
    const needed = story(pair, written);
    for (const head of pair.ant.journal.heads.under('', undefined, 10)) if (head.content) pair.shows(pair.ant, head);
    for (const operation of needed) {
      expect(holding(), `while bee lacks ${dots([operation])}`).toBe(1);
      pair.shows(pair.bee, operation);
    }
    expect(holding()).toBe(2);
  });
});

test('[AK6] a wait for a path requires the conflict copies that were made of it before', () => {
  const pair = new Pair();
  const written = pair.wrote();
  const origin = pair.beeOrigin;
  const copy = pair.ant.operation(conflictPath(path, written.hlc, 'ant'), { kind: 'put', text: 'by ant' }, { origin });
  const join = pair.ant.operation(path, { kind: 'put', text: 'by bee' }, { origin, parents: [written] });
  pair.known(copy, join);
  pair.shows(pair.bee, join);
  const holding = pair.wait(path);
  for (const operation of [copy, join]) pair.shows(pair.ant, operation);
  expect(holding()).toBe(1);
  pair.shows(pair.bee, copy);
  expect(holding()).toBe(2);
});

test('[AK6] a wait for a path whose rename is not applied here yet requires the new name', () => {
  const pair = new Pair();
  const written = pair.wrote();
  const origin = pair.beeOrigin;
  const put = pair.ant.operation('new-name', { kind: 'put', text: 'by ant' }, { origin });
  pair.known({ ...put, from: path }, pair.ant.operation(path, { kind: 'delete' }, { origin, parents: [written] }));
  expect(put.content).toBe(contentOfText('by ant').id);
  const holding = pair.wait(path);
  pair.shows(pair.ant, put);
  pair.ant.journal.disk.record([{ path, entry: undefined }]);
  expect(holding()).toBe(1);
  pair.shows(pair.bee, put);
  expect(holding()).toBe(2);
});

test('[AK6] [FK3] operations that a seal has cut off are no longer required', () => {
  const pair = new Pair();
  pair.shows(pair.bee, pair.wrote());
  const cut = pair.ant.operation('cut', { kind: 'delete' }, { origin: 'cat' as OriginId });
  pair.bee.received(cut);
  const holding = pair.wait(undefined);
  expect(holding(), 'while the operation may be a rename of an entry in the goal').toBe(1);
  for (const { journal } of [pair.ant, pair.bee]) journal.seal(cut.origin, 0);
  expect(holding()).toBe(2);
});

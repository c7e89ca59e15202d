import type { OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { remoteEntry } from '../../core/entry.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { Signal } from '../scheduling/signal.ts';
import { PinFiller, pin, unpin } from './pins.ts';

const bee = 'bbbb.one' as OriginId;
const minuteMs = 60_000;
const roomBytes = 1_000;

/**
 * A member on demand that knows a film and a song, and has neither. `failure`: why their fetches fail; undefined once they do not.
 * `fetched`: the paths whose fetches began.
 */
function pinned() {
  const member = new LoneMember(undefined, { onDemand: true });
  const { journal } = member;
  const context = { ...member.context, self: { ...member.context.self, onDemand: true as const } };
  const raised = new Signal();
  const state: { failure: string | undefined; fetched: string[] } = { failure: 'disk-full', fetched: [] };
  const fetch = async (path: string) => {
    state.fetched.push(path);
    if (state.failure !== undefined) return { isHere: false, code: state.failure };
    journal.disk.record([{ path, entry: undefined }]);
    return { isHere: true };
  };
  new PinFiller(context, { fetch, raised });
  const operations = ['film', 'song'].map((path) =>
    member.operation(path, { kind: 'put', text: path }, { origin: bee }),
  );
  member.received(...operations);
  journal.disk.record(operations.map((operation) => remoteEntry(operation.path, operation)));
  return { member, context, raised, state };
}

test('[OD13] what is pinned and could not be fetched is tried again, at growing pauses', async () => {
  const { member, context, state } = pinned();
  await pin(context, 'film', roomBytes);
  await member.passes(60 * minuteMs);
  expect(state.fetched.length).toBeGreaterThanOrEqual(12);
  expect(state.fetched.length).toBeLessThan(40);
  state.failure = undefined;
  await member.passes(5 * minuteMs);
  const attempts = state.fetched.length;
  expect(member.journal.disk.at('film')?.remote).toBeUndefined();
  await member.passes(60 * minuteMs);
  expect(state.fetched).toHaveLength(attempts);
});

test('[OD13] what is pinned and had no room is fetched when the cache was made larger, or something else is unpinned', async () => {
  const { member, context, raised, state } = pinned();
  await pin(context, 'film', roomBytes);
  await pin(context, 'song', roomBytes);
  await member.passes(60 * minuteMs);
  for (const makeRoom of [() => raised.publish(), () => unpin(context, 'song')]) {
    state.fetched = [];
    makeRoom();
    await member.passes(1_000);
    expect(state.fetched).toContain('film');
  }
});

test('[OD13] what is pinned and cannot be put at its path is tried again after an hour', async () => {
  const { member, context, state } = pinned();
  state.failure = 'path-in-the-way';
  await pin(context, 'film', roomBytes);
  await member.passes(50 * minuteMs);
  expect(state.fetched).toHaveLength(1);
  await member.passes(20 * minuteMs);
  expect(state.fetched).toHaveLength(2);
});

import type { ContentId, MemberId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import type { Peer } from '../members/peer.ts';
import type { Context } from '../state/context.ts';
import { Departures } from './departures.ts';

test('[DB-X5] a file that a member has got from others too is not on its way any more', () => {
  const context = { clock: { monotonicMs: () => 0 }, facts: { second: { on: () => undefined } } } as unknown as Context;
  const departures = new Departures(context);
  const [bee, cat] = [{ id: 'bee' as MemberId } as Peer, { id: 'cat' as MemberId } as Peer];
  const film = { content: 'film' as ContentId, path: 'film.mkv', size: 100 };
  for (const peer of [bee, cat]) departures.sent(peer, film, 60);
  expect(departures.list(() => false)).toMatchObject([{ to: 'bee' }, { to: 'cat', sentBytes: 60 }]);
  expect(departures.list((peer, file) => peer === bee && file.content === film.content)).toMatchObject([
    { path: 'film.mkv', to: 'cat' },
  ]);
});

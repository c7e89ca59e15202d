import { describe, expect, test } from 'vitest';
import { chooseSource, type SourceCandidate } from './choose-source.ts';

const candidate = (name: string, more: Partial<SourceCandidate> = {}) => ({
  name,
  isOrigin: false,
  isHolder: true,
  roundTripMs: 20,
  requestedBytes: 0,
  bytesPerSecond: 0,
  ...more,
});
const origin = (more: Partial<SourceCandidate> = {}) => candidate('origin', { isOrigin: true, ...more });
const busy = { requestedBytes: 8_000_000, bytesPerSecond: 1_000_000 };

describe('[CT16] the source of a content', () => {
  test.each<[string, 'small' | 'large', ReturnType<typeof candidate>[], string | undefined]>([
    ['no candidate', 'small', [], undefined],
    [
      'small: the origin, if others are about as near',
      'small',
      [candidate('near', { roundTripMs: 1 }), origin()],
      'origin',
    ],
    [
      'small: a holder that is much nearer',
      'small',
      [candidate('near', { roundTripMs: 1 }), origin({ roundTripMs: 200 })],
      'near',
    ],
    ['small: a holder whose link is idle', 'small', [origin(busy), candidate('idle', { roundTripMs: 120 })], 'idle'],
    ['small: the origin, if the holder is as busy', 'small', [candidate('busy', busy), origin(busy)], 'origin'],
    [
      'small: the busy origin, if no other holds it',
      'small',
      [candidate('idle', { isHolder: false }), origin(busy)],
      'origin',
    ],
    [
      'small: a fast link that is busy',
      'small',
      [
        candidate('slow', { requestedBytes: 1e6, bytesPerSecond: 1e5 }),
        candidate('fast', { ...busy, bytesPerSecond: 1e9 }),
      ],
      'fast',
    ],
    ['large: the origin, even if it is busy', 'large', [candidate('idle'), origin(busy)], 'origin'],
    [
      'large: the nearest holder',
      'large',
      [
        candidate('far'),
        candidate('near', { roundTripMs: 2 }),
        candidate('nearest', { roundTripMs: 1, isHolder: false }),
      ],
      'near',
    ],
  ])('%s', (_what, size, candidates, chosen) => {
    expect(chooseSource(candidates, size)?.name).toBe(chosen);
  });
});

import { describe, expect, test } from 'vitest';
import { chooseSource, type SourceCandidate } from './choose-source.ts';

const candidate = (name: string, more: Partial<SourceCandidate> = {}) => ({
  name,
  isOrigin: false,
  isHolder: true,
  lacks: false,
  roundTripMs: 20,
  requestedBytes: 0,
  bytesPerSecond: 0,
  ...more,
});
const origin = (more: Partial<SourceCandidate> = {}) => candidate('origin', { isOrigin: true, ...more });
const slow = { roundTripMs: 500 };
const busy = { requestedBytes: 8_000_000, bytesPerSecond: 1_000_000 };

describe('[CT16] the source of a content', () => {
  test.each<[string, ReturnType<typeof candidate>[], string | undefined]>([
    ['no candidate', [], undefined],
    ['the origin, if others are about as near', [candidate('near', { roundTripMs: 1 }), origin()], 'origin'],
    ['a holder that is much nearer', [candidate('near', { roundTripMs: 1 }), origin({ roundTripMs: 200 })], 'near'],
    ['a holder whose link is idle', [origin(busy), candidate('idle', { roundTripMs: 120 })], 'idle'],
    ['the origin, if the holder is as busy', [candidate('busy', busy), origin(busy)], 'origin'],
    ['the busy origin, if no other holds it', [candidate('idle', { isHolder: false }), origin(busy)], 'origin'],
    ['[OD16] a member that has it, if the origin dropped it', [origin({ lacks: true }), candidate('far', slow)], 'far'],
    [
      '[OD16] the origin that says that it lacks it, if no other holds it',
      [candidate('idle', { isHolder: false }), origin({ lacks: true })],
      'origin',
    ],
    [
      '[OD16] one that says that it lacks it last',
      [candidate('near', { roundTripMs: 1, lacks: true }), candidate('far', { ...slow, isHolder: false })],
      'far',
    ],
    [
      'a fast link that is busy',
      [
        candidate('slow', { requestedBytes: 1e6, bytesPerSecond: 1e5 }),
        candidate('fast', { ...busy, bytesPerSecond: 1e9 }),
      ],
      'fast',
    ],
  ])('%s', (_what, candidates, chosen) => {
    expect(chooseSource(candidates)?.name).toBe(chosen);
  });
});

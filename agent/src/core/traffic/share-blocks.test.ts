import { blockBytes, blocksInFlightMax, blocksInFlightPerSourceMax } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { nextRequest, placesOf, type ShareSource } from './share-blocks.ts';

interface Named extends ShareSource {
  readonly name: string;
  /** The blocks that it has; all if undefined. */
  readonly some?: readonly number[];
}

const source = (name: string, more: Partial<Named> = {}): Named => ({
  name,
  hasAll: more.some === undefined,
  isGuess: false,
  roundTripMs: 1,
  bytesPerMs: 10_000,
  requests: 0,
  requestedBytes: 0,
  isStalled: false,
  next: undefined,
  isNextOffered: false,
  ...more,
});

const fast = (more: Partial<Named> = {}) => source('fast', { bytesPerMs: 50_000, ...more });
const slow = (more: Partial<Named> = {}) => source('slow', { bytesPerMs: 500, roundTripMs: 100, ...more });
const asked = (requests: number) => ({ requests, requestedBytes: requests * blockBytes });

/** A block that is requested from the source of this name, as the last of `blocks` there. */
type Pending = readonly [index: number, name: string, blocks: number];

interface Circumstances {
  readonly missingBlocks?: number;
  /** Others fetch the content as well, and this member fetches these blocks first. */
  readonly own?: readonly number[];
  readonly quietMs?: number;
  /** Of all other blocks. */
  readonly distance?: number;
}

function decide(sources: readonly Named[], pending: readonly Pending[] = [], circumstances: Circumstances = {}) {
  const { missingBlocks = 1_000, own, quietMs = 0, distance = 1 } = circumstances;
  const request = nextRequest<Named>({
    sources,
    pending: pending.map(([index, name, blocks]) => ({
      index,
      source: sources.find((known) => known.name === name) as Named,
      aheadBytes: blocks * blockBytes,
    })),
    missingBytes: missingBlocks * blockBytes,
    isShared: own !== undefined,
    quietMs,
    has: ({ some }, index) => some?.includes(index) ?? true,
    distance: (index) => (own?.includes(index) === false ? distance : 0),
  });
  return request && `${request.source.name} ${request.index}`;
}

describe('[CT21] the next block of a large content', () => {
  test.each<[string, readonly Named[], readonly Pending[], number, string | undefined]>([
    ['no source', [], [], 9, undefined],
    ['no block left', [source('only')], [], 0, undefined],
    ['from the only source, however slow', [slow({ next: 3 })], [], 9, 'slow 3'],
    ['from the faster of two', [slow({ next: 3 }), fast({ next: 4 })], [], 1_000, 'fast 4'],
    [
      'from the slower one, if the faster is busy',
      [slow({ next: 3 }), fast({ next: 4, ...asked(8) })],
      [[1, 'fast', 8]],
      1_000,
      'slow 3',
    ],
    [
      'not from one that answers after all others are done',
      [slow({ next: 3 }), fast({ next: 4, ...asked(8) })],
      [[1, 'fast', 8]],
      20,
      undefined,
    ],
    [
      'from one that was not measured yet',
      [source('new', { bytesPerMs: undefined, next: 5 }), slow()],
      [],
      99,
      'new 5',
    ],
    ['not from one that stalls', [fast({ next: 1, isStalled: true }), slow({ next: 2 })], [], 99, 'slow 2'],
    ['from the only source, although it stalls', [slow({ next: 2, isStalled: true })], [], 99, 'slow 2'],
    [
      'that is offered: from the member that offers it, not from the slower one that has all',
      [
        slow({ next: 1, isNextOffered: true }),
        source('peer', { some: [1], requests: 8, requestedBytes: 8 * blockBytes }),
      ],
      [[2, 'peer', 8]],
      9,
      undefined,
    ],
    [
      'that is offered: from the one that has all, if those that offer it are clearly slower',
      [source('all', { next: 1, isNextOffered: true }), slow({ some: [1], ...asked(2) })],
      [[2, 'slow', 2]],
      99,
      'all 1',
    ],
    [
      'from those that have all only, if these are fast enough for any line',
      [source('all', { bytesPerMs: 70_000, ...asked(8) }), source('peer', { some: [1], next: 1 })],
      [[2, 'all', 8]],
      99,
      undefined,
    ],
    [
      'although each of two sources would leave it to the other',
      [slow({ next: 1, isNextOffered: true }), source('peer', { some: [1], next: 1, bytesPerMs: 100 })],
      [],
      1,
      'slow 1',
    ],
  ])('%s', (_what, sources, pending, missing, expected) => {
    expect(decide(sources, pending, { missingBlocks: missing })).toBe(expected);
  });

  test('no source has more requests than keep it busy, a single one as many as allowed', () => {
    expect(placesOf(source('new', { bytesPerMs: undefined }))).toBe(2);
    expect(placesOf(slow())).toBe(2);
    expect(placesOf(source('middle', { bytesPerMs: 20_000 }))).toBe(3);
    expect(placesOf(source('fast', { bytesPerMs: 1_000_000 }))).toBe(blocksInFlightPerSourceMax);
    expect(placesOf(source('far', { bytesPerMs: 10_000, roundTripMs: 400 }))).toBe(6);
    expect(decide([slow({ next: 1, ...asked(blocksInFlightPerSourceMax - 1) })])).toBe('slow 1');
    expect(decide([slow({ next: 1, ...asked(blocksInFlightPerSourceMax) })])).toBeUndefined();
  });

  test('a single source has no more requests than keep it busy while others fetch the content as well', () => {
    const own = [1, 2, 3];
    expect(decide([slow({ next: 3, ...asked(1) })], [[1, 'slow', 1]], { own })).toBe('slow 3');
    expect(decide([slow({ next: 3, ...asked(2) })], [[1, 'slow', 1]], { own })).toBeUndefined();
  });

  test.each<[string, Named, readonly Pending[], number, string | undefined]>([
    ['left to them while the own part comes', slow({ next: 8, ...asked(1) }), [[1, 'slow', 1]], 60_000, undefined],
    ['left to them as long as they get blocks', slow({ next: 8 }), [], 4_000, undefined],
    ['requested if they get none', slow({ next: 8 }), [], 5_000, 'slow 8'],
    [
      'left to them if the source was not measured',
      source('new', { bytesPerMs: undefined, next: 8 }),
      [],
      0,
      undefined,
    ],
    ['requested from a source that is not slow', fast({ next: 8, ...asked(1) }), [[1, 'fast', 1]], 0, 'fast 8'],
    [
      'requested from a source that was slow lately, in the end',
      slow({ bytesPerMs: 1, next: 8 }),
      [],
      120_000,
      'slow 8',
    ],
    ['requested from a member that may have none', slow({ isGuess: true, next: 8 }), [], 0, 'slow 8'],
    ['requested from one of them that has it', slow({ some: [8], next: 8 }), [], 0, 'slow 8'],
  ])('a block that others fetch first is %s', (_what, only, pending, quietMs, expected) => {
    expect(decide([only], pending, { own: [1, 2], quietMs })).toBe(expected);
  });

  test('the nearest of the others asks first for a block that the first does not get', () => {
    const decided = (distance: number, quietMs: number) =>
      decide([slow({ next: 8 })], [], { own: [], quietMs, distance });
    expect([decided(3, 12_000), decided(3, 13_000)]).toEqual([undefined, 'slow 8']);
  });

  test('[CT3] several sources together have a limit as well', () => {
    const pending = Array.from({ length: blocksInFlightMax }, (_, index): Pending => [index, 'slow', 1]);
    const sources = [fast({ next: 99 }), slow()];
    expect(decide(sources, pending.slice(1))).toBe('fast 99');
    expect(decide(sources, pending)).toBeUndefined();
  });
});

describe('[CT22] a block that is requested a second time', () => {
  test.each<[string, readonly Named[], readonly Pending[], string | undefined]>([
    [
      'is the one that comes last',
      [fast(), slow(asked(2))],
      [
        [7, 'slow', 1],
        [8, 'slow', 2],
      ],
      'fast 8',
    ],
    ['comes clearly earlier from the other source', [fast(), source('other', asked(2))], [[7, 'other', 2]], undefined],
    [
      'is one that the other source has',
      [fast({ some: [7] }), slow(asked(2))],
      [
        [7, 'slow', 1],
        [8, 'slow', 2],
      ],
      'fast 7',
    ],
    [
      'is never requested a third time',
      [fast(), slow(asked(2)), source('third')],
      [
        [7, 'slow', 2],
        [7, 'fast', 1],
      ],
      undefined,
    ],
    ['is requested only if nothing else is to be', [fast({ next: 9 }), slow(asked(2))], [[7, 'slow', 2]], 'fast 9'],
    [
      'may be that of a source that stalls',
      [fast(), source('other', { ...asked(1), isStalled: true })],
      [[7, 'other', 1]],
      'fast 7',
    ],
  ])('%s', (_what, sources, pending, expected) => {
    expect(decide(sources, pending, { missingBlocks: 2 })).toBe(expected);
  });
});

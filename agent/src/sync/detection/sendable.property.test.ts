import type { ContentId, Operation } from '@lockstep/shared';
import { fileBytesMax } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fingerprint } from '../../core/entry.ts';
import { decodeMessage, encodeMessage } from '../../net/messages/codec.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import type { Observation } from '../ports/observation.ts';
import { detectChanges } from './change-detector.ts';

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(Number),
  fc.constantFrom(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0,
    0.5,
    2 ** 53,
    -(2 ** 53),
    8.64e18,
    fileBytesMax + 1,
  ),
);

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc
    .array(fc.constantFrom('\ud800', '\udc00', '\0', '/', '.', '..', 'a', '\ufeff', ' '), { maxLength: 6 })
    .map((list) => list.join('')),
  fc
    .tuple(fc.constantFrom('a', 'é', '😀'), fc.constantFrom(200, 255, 256, 3_072, 4_095, 4_096))
    .map(([text, count]) => text.repeat(count)),
);

/** Paths as a scan or a watcher may report them: at any depth and in any spelling. */
const anyPath = fc.oneof(
  anyText,
  fc
    .array(fc.constantFrom('a', 'b', 'é', 'a b', 'x.conflict-20261121T065602123Z-bee', '.lockstep'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((names) => names.join('/')),
);

const anyFingerprint = (typeBits: number): fc.Arbitrary<Fingerprint> =>
  fc.record({
    ino: fc.integer({ min: 1, max: 2 ** 53 }),
    // No count is the negative zero.
    size: fc.oneof(fc.nat(1_000_000), anyNumber).map((size) => size + 0),
    mtimeMs: anyNumber,
    ctimeMs: anyNumber,
    mode: fc.integer({ min: 0, max: 0o7777 }).map((bits) => typeBits | bits),
  });

const anyContent = fc
  .tuple(
    fc.constantFrom('b3:', 'b3t:'),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
  )
  .map(([domain, digits]) => `${domain}${digits}` as ContentId);

const anyDetail = { code: fc.constant('path-io' as const), detail: fc.constant('It has a problem: repair it.') };

type WithoutPath<T> = T extends unknown ? Omit<T, 'path'> : never;

/** Any answer of the port about one path. */
const anyObservation: fc.Arbitrary<WithoutPath<Observation>> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        state: fc.constant('file' as const),
        fingerprint: anyFingerprint(0o100_000),
        mtimeUs: anyNumber,
        racy: fc.boolean(),
        content: anyContent,
        blocks: fc.uint8Array({ maxLength: 96 }),
        bytes: fc.uint8Array({ maxLength: 10 }),
      },
      { requiredKeys: ['state', 'fingerprint', 'mtimeUs', 'racy', 'content'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ state: fc.constant('directory' as const), fingerprint: anyFingerprint(0o040_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      state: fc.constant('symlink' as const),
      fingerprint: anyFingerprint(0o120_000),
      mtimeUs: anyNumber,
      target: anyText,
    }),
  },
  fc.record({ state: fc.constant('large' as const), fingerprint: anyFingerprint(0o100_000) }),
  fc.record({ state: fc.constantFrom('absent' as const, 'same' as const, 'changing' as const) }),
  fc.record({ state: fc.constant('special' as const), problem: fc.record(anyDetail) }),
  fc.record({ state: fc.constant('problem' as const), ...anyDetail }),
);

const isEntry = ({ state }: { readonly state: Observation['state'] }): boolean =>
  state === 'file' || state === 'directory' || state === 'symlink';

const parent: WithoutPath<Observation> = {
  state: 'directory',
  fingerprint: { ino: 2 ** 40, size: 0, mtimeMs: 0, ctimeMs: 0, mode: 0o040_755 },
};

/** `operation` after encoding and decoding, as another member receives it. */
function carried(operation: Operation): Operation | undefined {
  const frames = encodeMessage({ type: 'operations', id: 1, carried: [{ operation }] });
  const message = decodeMessage(frames.map((frame) => Buffer.from(frame)));
  return message.type === 'operations' ? message.carried[0]?.operation : undefined;
}

describe('[LC20] any observation in the folder', () => {
  test('is journaled as an operation that arrives equal, or becomes a problem of its path and is not journaled', async () => {
    let journaled = 0;
    let refused = 0;
    const steps = fc.tuple(anyPath, fc.array(anyObservation, { minLength: 1, maxLength: 3 }));
    // Several paths for each member: to open a journal takes longer than all of them. Always as
    // many, so that both outcomes come up some hundred times in any run.
    const property = fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 20 }), async (walk) => {
      let examined = '';
      let now: WithoutPath<Observation> = parent;
      const member = new LoneMember((folder) => ({
        ...folder,
        observe: (requests) =>
          Promise.resolve(requests.map(({ path }) => ({ ...(path === examined ? now : parent), path }))),
        inHistory: () => Promise.resolve(new Set()),
        // No entry is still there when its mode or time is to be set.
        apply: (steps) => Promise.resolve(steps.map(() => ({ result: 'changed' as const }))),
      }));
      const { context, operationWriter, journal } = member;
      for (const [path, seen] of walk) {
        examined = path;
        for (now of seen) {
          const before = journal.heads.at(path)[0];
          context.problems.clearPath(path);
          const unsettled = { path, firstMs: 0, lastMs: 0, dueMs: 0, missingSinceMs: -1_000 };
          await detectChanges(context, operationWriter, {
            batch: [unsettled],
            read: new Map(),
            scannedUpToMs: Number.MAX_SAFE_INTEGER,
          });
          const [head] = journal.heads.at(path);
          const problem = context.problems.ofPath(path);
          if (head === before) {
            const isIgnored = context.ignored.ignores(path, now.state === 'directory');
            if (before === undefined && isEntry(now) && !isIgnored) expect(problem).toBeDefined();
            refused += problem === undefined ? 0 : 1;
          } else {
            expect(problem).toBeUndefined();
            expect(carried(head as Operation)).toEqual(head);
            journaled += 1;
          }
        }
      }
    });
    await fc.assert(property, { numRuns: 60 });
    expect(Math.min(journaled, refused)).toBeGreaterThan(100);
  });
});

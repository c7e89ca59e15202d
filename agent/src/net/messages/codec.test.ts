import {
  blockBytes,
  blockRangesMax,
  type ContentId,
  fileBytesMax,
  filterBytesMax,
  frameBytesMax,
  inlineBytesMax,
  keepsAcceptedMax,
  LockstepError,
  type MemberId,
  memberPath,
  type Operation,
  type OriginId,
  operationsPerFrameMax,
  type PeerMessage,
  spanMax,
} from '@lockstep/shared';
import fc from 'fast-check';
import { Packr } from 'msgpackr/pack';
import { describe, expect, test } from 'vitest';
import { anyMessage, members, origins, treeOf } from '../../../test/support/peer-messages.ts';
import { decodeMessage as decodeFrames, encodeMessage as encodeFrames } from './codec.ts';

const [member] = members as [MemberId];
const [own, other] = origins as [OriginId, OriginId];

const oneBlock = `b3:${'0'.repeat(64)}` as ContentId;

const textEncoder = new TextEncoder();

/** A message as the bytes of one frame. */
function encodeMessage(sent: PeerMessage): Buffer {
  return Buffer.concat(encodeFrames(sent));
}

function decodeMessage(frame: Buffer): PeerMessage {
  return decodeFrames([frame]);
}

describe('an encoded message', () => {
  test('decodes to the same message', () => {
    fc.assert(
      fc.property(anyMessage, (sent) => {
        expect(plain(decodeMessage(encodeMessage(sent)))).toEqual(plain(sent));
      }),
      {
        numRuns: 1_000,
      },
    );
  });

  test('decodes to the same message for any division into frames', () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(), (sent, at) => {
        const whole = encodeMessage(sent);
        const place = at % (whole.length + 1);
        expect(plain(decodeFrames([whole.subarray(0, place), whole.subarray(place)]))).toEqual(plain(sent));
        expect(plain(decodeFrames(encodeFrames(sent).map((frame) => Buffer.from(frame))))).toEqual(plain(sent));
      }),
    );
  });

  /** fast-check's dictionaries have no prototype; byte arrays are compared by their bytes. */
  function plain(value: PeerMessage): unknown {
    return structuredClone(value);
  }

  test('has byte arrays that share no memory', () => {
    const bytes = textEncoder.encode('hello');
    const frame = encodeMessage({
      type: 'operations',
      id: 1,
      carried: [{ operation: put({ size: bytes.length }), bytes }],
    });
    const decoded = decodeMessage(frame);
    if (decoded.type !== 'operations') throw new Error(decoded.type);
    expect(decoded.carried[0]?.bytes?.buffer.byteLength).toBe(bytes.length);
  });

  test('keeps a byte order mark at the start of a long path', () => {
    const marked = `\uFEFF${'x'.repeat(100)}`;
    const frame = encodeMessage({
      type: 'operations',
      id: 1,
      carried: [{ operation: put({ path: marked, from: marked }) }],
    });
    expect(decodeMessage(frame)).toMatchObject({ carried: [{ operation: { path: marked, from: marked } }] });
  });

  test('an operation on a new path costs little more than its path, content id and bytes', () => {
    const carried = Array.from({ length: 100 }, (_, index) => ({
      operation: put({
        seq: index + 1,
        path: `directory/file-${100 + index}`,
        version: { vector: { [own]: index + 1 } },
      }),
    }));
    const one = 'directory/file-100'.length + 33;
    expect(encodeMessage({ type: 'operations', id: 1, carried }).length).toBeLessThan(100 * (one + 45) + 100);
  });

  test('the hashes of the largest file fit into a frame, and a larger message is a programming error', () => {
    const blocks = new Uint8Array((fileBytesMax / blockBytes) * 32);
    const largest = put({ ...treeOf(blocks), size: fileBytesMax });
    expect(
      decodeMessage(encodeMessage({ type: 'operations', id: 1, carried: [{ operation: largest }] })),
    ).toBeDefined();
    expect(() => encodeMessage({ type: 'block', id: 1, bytes: new Uint8Array(frameBytesMax) })).toThrow(LockstepError);
  });
});

describe('[SY6] bytes that are not a message are refused, with a reason', () => {
  function refuses(frame: Uint8Array): void {
    try {
      decodeMessage(Buffer.from(frame));
    } catch (error) {
      if (!(error instanceof LockstepError)) throw error;
      expect(error.code).toBe('frame-invalid');
      expect(error.message).not.toBe('');
    }
  }

  test('any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), refuses), { numRuns: 2_000 });
  });

  test('any bytes behind a header', () => {
    const frame = fc
      .tuple(fc.integer({ min: 1, max: 13 }), fc.uint8Array({ maxLength: 300 }))
      .map(([type, body]) => Uint8Array.from([1, type, ...body]));
    fc.assert(fc.property(frame, refuses), { numRuns: 5_000 });
  });

  test('any value behind a header', () => {
    const packr = new Packr({ useRecords: false, largeBigIntToFloat: true });
    const frame = fc
      .tuple(fc.integer({ min: 1, max: 13 }), fc.anything({ withBigInt: true, withTypedArray: true, withDate: true }))
      .map(([type, body]) => Buffer.concat([Buffer.from([1, type]), packr.pack(body)]));
    fc.assert(fc.property(frame, refuses), { numRuns: 3_000 });
  });

  test('a message with one byte changed, or cut short', () => {
    const frame = fc
      .tuple(anyMessage, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean())
      .map(([sent, at, byte, isCut]) => {
        const bytes = Buffer.from(encodeMessage(sent));
        const place = at % bytes.length;
        if (isCut) return bytes.subarray(0, place);
        bytes[place] = byte;
        return bytes;
      });
    fc.assert(fc.property(frame, refuses), { numRuns: 5_000 });
  });

  test.each<[string, string]>([
    ['a record', 'd47240 91a161 01'],
    ['a regular expression', 'c7047892a16190'],
    ['a reference', 'd67000000001'],
    ['a bundle of strings', 'd662fffffff0'],
    ['a date', 'd6ff00000000'],
    ['undefined', 'd40000'],
    ['nothing', ''],
    ['an array of 4 billion', 'ddffffffff'],
    ['a map of 4 billion', 'dfffffffff'],
    ['a string of 4 billion', 'dbffffffff'],
    ['arrays in arrays', '91'.repeat(100_000)],
  ])('a body that is %s', (_what, body) => {
    const bytes = Buffer.from(`010d${body.replaceAll(' ', '')}`, 'hex');
    expect(() => decodeMessage(bytes)).toThrow(/^leave: the body/);
  });

  const tree = { ...treeOf(new Uint8Array(64)), size: blockBytes + 1 };
  const base: Record<string, Operation> = {
    put: put({}),
    mkdir: { ...core(), kind: 'mkdir', mode: 0o755 },
    symlink: { ...core(), kind: 'symlink', target: 'x', mtimeUs: 0 },
    attr: { ...core(), kind: 'attr', mode: 0o700 },
    delete: { ...core(), kind: 'delete' },
    member: {
      ...core(),
      kind: 'member',
      path: memberPath(member),
      member: { id: member, name: 'ant', addresses: [], membership: 'joined' },
    },
  };

  test.each(Object.keys(base))('%s in its base form is accepted', (kind) => {
    expect(decodeMessage(frameOf(base[kind] as Operation))).toMatchObject({ carried: [{ operation: base[kind] }] });
  });

  test("[WT7] the path of another member's state deeper in the folder is carried: a journal may hold it", () => {
    const operation = { ...base.put, path: 'a/.lockstep/identity.key' } as Operation;
    expect(decodeMessage(frameOf(operation))).toMatchObject({ carried: [{ operation }] });
  });

  test.each<[string, string, { [Key in keyof Operation]?: unknown }]>([
    ['put', 'seq is not', { seq: 0, version: { vector: { [own]: 0 } } }],
    ['put', 'seq is not', { seq: Number.MAX_SAFE_INTEGER + 1 }],
    ['put', 'hlc is not', { hlc: 1.5 }],
    ['put', 'hlc is not', { hlc: -1 }],
    ['put', 'path is empty', { path: '' }],
    ['put', 'path contains ".." as a name', { path: '../etc/passwd' }],
    ['put', 'path has an empty name in it', { path: '/etc/passwd' }],
    ['put', 'path lies inside .lockstep', { path: '.lockstep/identity.key' }],
    ['put', 'path lies inside .lockstep', { path: memberPath(member) }],
    ['put', 'path contains a NUL', { path: 'a\0b' }],
    ['put', 'path has a name longer', { path: 'é'.repeat(128) }],
    ['put', 'from contains ".." as a name', { from: 'a/../../b' }],
    ['put', 'mode is not', { mode: 0o10000 }],
    ['put', 'size is not', { size: fileBytesMax + 1 }],
    ['put', 'size is not', { size: -1 }],
    ['put', 'mtimeUs is not', { mtimeUs: 0.5 }],
    ['put', 'put lacks content', { content: undefined }],
    ['put', 'put lacks size', { size: undefined }],
    ['put', 'put lacks mode', { mode: undefined }],
    ['put', 'put lacks mtimeUs', { mtimeUs: undefined }],
    ['put', 'put has target', { target: 'x' }],
    ['delete', 'delete has span', { span: 2 }],
    ['put', 'content is not an id for', { size: blockBytes + 1 }],
    ['put', 'content is not an id for', { ...tree, size: blockBytes }],
    ['put', 'blocks are 0 bytes, not 64', { ...tree, blocks: undefined }],
    ['put', 'blocks are 32 bytes, not 64', { ...tree, blocks: new Uint8Array(32) }],
    ['put', 'blocks are 32 bytes, not 0', { blocks: new Uint8Array(32) }],
    ['put', 'group is not', { group: 8 }],
    ['put', 'version does not end', { version: { vector: { [own]: 6 } } }],
    ['put', 'version does not end', { version: { vector: { [own]: 8 } } }],
    ['put', 'version does not end', { version: { vector: { [other]: 7 } } }],
    ['put', 'version excepts the', { version: { vector: { [own]: 7 }, except: [{ origin: own, seq: 7 }] } }],
    ['put', 'version.except names', { version: { vector: { [own]: 7 }, except: [{ origin: other, seq: 1 }] } }],
    ['put', 'version.except has a', { version: { vector: { [own]: 7 }, except: [{ origin: own, seq: 0 }] } }],
    ['put', 'keeps is empty', { keeps: [] }],
    ['put', 'keeps names the operation itself', { keeps: [{ origin: own, seq: 7 }] }],
    ['put', 'keeps names an operation that the version does not cover', { keeps: [{ origin: other, seq: 1 }] }],
    ['put', 'keeps has a number', { keeps: [{ origin: own, seq: 0 }] }],
    ['put', 'keeps has more than', { keeps: new Array(keepsAcceptedMax + 1).fill({ origin: own, seq: 1 }) }],
    ['attr', 'attr has keeps', { keeps: [{ origin: own, seq: 1 }] }],
    ['delete', 'delete has keeps', { keeps: [{ origin: own, seq: 1 }] }],
    ['put', 'marks are 8 bytes, not 8 for each of 0 other origins', { marks: new Uint8Array(8) }],
    [
      'put',
      'marks are 7 bytes, not 8 for each of 1 other origins',
      { version: { vector: { [own]: 7, [other]: 1 } }, marks: new Uint8Array(7) },
    ],
    ['put', 'version.vector has a number', { version: { vector: { [own]: 7, [other]: 1.5 } } }],
    ['put', 'origins has an entry', { version: { vector: { [own]: 7, nobody: 1 } } }],
    ['put', 'origins has an entry', { origin: 'nobody' }],
    ['mkdir', 'mkdir lacks mode', { mode: undefined }],
    ['mkdir', 'mkdir has mtimeUs', { mtimeUs: 0 }],
    ['mkdir', 'mkdir has content, size', { content: tree.content, size: 0 }],
    ['mkdir', 'span is not', { span: 0 }],
    ['mkdir', 'span is not', { span: spanMax + 1 }],
    ['symlink', 'symlink lacks target', { target: undefined }],
    ['symlink', 'symlink has mode', { mode: 0 }],
    ['symlink', 'target is empty', { target: '' }],
    ['symlink', 'target contains a NUL', { target: 'a\0' }],
    ['symlink', 'target is longer', { target: 'x'.repeat(4_096) }],
    ['attr', 'attr lacks mode', { mode: undefined }],
    ['attr', 'attr lacks size', { content: `b3:${'1'.repeat(64)}` }],
    ['attr', 'attr has size', { size: 1 }],
    ['attr', 'attr has from', { from: 'x' }],
    ['delete', 'delete has mode', { mode: 0 }],
    ['delete', 'delete has from', { from: 'x' }],
    ['member', 'member lacks member', { member: undefined }],
    ['member', "path is not the member's", { path: 'x' }],
    ['member', "path is not the member's", { path: memberPath(members[1] as MemberId) }],
    [
      'member',
      'member is not a member record',
      { member: { id: 'x', name: 'x', addresses: [], membership: 'joined' } },
    ],
    ['member', 'member has group', { group: 1 }],
  ])('%s: %s', (kind, fault, changes) => {
    const changed = { ...base[kind], ...changes } as Operation;
    const attempt = () => decodeMessage(frameOf(changed));
    expect(attempt).toThrow(LockstepError);
    expect(attempt).toThrow(fault);
  });

  test.each<[string, Uint8Array, Partial<Operation>]>([
    ['are 3, not', new Uint8Array(3), { size: 4 }],
    ['are more than', new Uint8Array(inlineBytesMax + 1), { size: inlineBytesMax + 1 }],
  ])('inline bytes that %s', (fault, bytes, fields) => {
    const frame = encodeMessage({ type: 'operations', id: 1, carried: [{ operation: put(fields), bytes }] });
    expect(() => decodeMessage(frame)).toThrow(`operations[0].bytes ${fault}`);
  });

  test('[CT8] block hashes that are not those of the content id', () => {
    const lie = put({ ...tree, blocks: new Uint8Array(64).fill(1) });
    expect(() => decodeMessage(frameOf(lie))).toThrow('operations[0].blocks are not those of the content id');
  });

  test('inline bytes of a directory', () => {
    const carried = [{ operation: base.mkdir as Operation, bytes: new Uint8Array(1) }];
    expect(() => decodeMessage(encodeMessage({ type: 'operations', id: 1, carried }))).toThrow('mkdir has bytes');
  });

  test('a path that is not UTF-8', () => {
    const frame = frameOf(put({ path: 'QQQQ' }));
    frame[frame.indexOf('QQQQ')] = 0xff;
    expect(() => decodeMessage(frame)).toThrow('operations[0].path is not UTF-8');
  });

  test('operations of one origin with a gap, or out of order', () => {
    for (const second of [6, 7, 9]) {
      const carried = [put({}), put({ seq: second, version: { vector: { [own]: second } } })].map((operation) => ({
        operation,
      }));
      const frame = encodeMessage({ type: 'operations', id: 1, carried });
      expect(() => decodeMessage(frame)).toThrow(`operations[1].seq is ${second} and follows 7`);
    }
  });

  test('too many operations', () => {
    const carried = Array.from({ length: 2 * operationsPerFrameMax + 1 }, (_, index) => ({
      operation: put({ seq: index + 1, version: { vector: { [own]: index + 1 } } }),
    }));
    expect(() => decodeMessage(encodeMessage({ type: 'operations', id: 1, carried }))).toThrow(
      'operations has 2001 entries',
    );
  });

  const messages: readonly (readonly [PeerMessage, string])[] = [
    [{ type: 'received', id: -1 }, 'received.id'],
    [{ type: 'received', id: 2 ** 48 }, 'received.id'],
    [{ type: 'subscribe', origin: 'x' as OriginId, after: 0 }, 'subscribe.origin is not an origin id'],
    [{ type: 'subscribe', origin: own, after: 0.5 }, 'subscribe.after'],
    [{ type: 'want', id: 1, content: 'b3:00' as ContentId, index: 0, path: 'a' }, 'want.content is not a content id'],
    [{ type: 'have', content: anyContent, blocks: [[3, 2]] }, 'have.blocks is not ranges of blocks'],
    [{ type: 'have', content: anyContent, blocks: [[0, 524_288]] }, 'have.blocks is not ranges of blocks'],
    [{ type: 'holdings', seq: -1, bits: new Uint8Array(128) }, 'holdings.seq Too small'],
    [{ type: 'holdings', seq: 1, bits: new Uint8Array(64) }, 'holdings.bits is not a filter'],
    [{ type: 'holdings', seq: 1, bits: new Uint8Array(132) }, 'holdings.bits is not a filter'],
    [{ type: 'holdings', seq: 1, bits: new Uint8Array(filterBytesMax + 8) }, 'holdings.bits is not a filter'],
    [{ type: 'flipped', seq: 2, positions: [-1] }, 'flipped.positions is not positions in a filter'],
    [{ type: 'flipped', seq: 2, positions: [8 * filterBytesMax] }, 'flipped.positions is not positions in a filter'],
    [{ type: 'flipped', seq: 2, positions: Array(524_289).fill(1) }, 'flipped.positions is not positions in a filter'],
    [{ type: 'have', content: anyContent, blocks: Array(4_097).fill([1, 1]) }, 'have.blocks is not ranges of blocks'],
    ...[
      [],
      [[0, 0]],
      [[-1, 1]],
      [[0, 1, 1]],
      [
        [0, blockBytes],
        [0, 1],
      ],
      Array(blockRangesMax + 1).fill([0, 1]),
    ].map((wrong): [PeerMessage, string] => {
      const ranges = wrong as [number, number][];
      return [{ type: 'want', id: 1, content: oneBlock, index: 0, path: 'a', ranges }, 'want.ranges is not ranges'];
    }),
    [{ type: 'pull', id: 1, known: { x: 1 } as Record<OriginId, number> }, 'pull.known is not a version vector'],
    [{ type: 'pull', id: 1, known: { [own]: -1 } }, 'pull.known is not a version vector'],
    [
      { type: 'ack', known: {}, marks: new Uint8Array(0), applied: { vector: {}, ranges: { [own]: [[3, 2]] } } },
      'ack.applied.ranges is not ranges',
    ],
    [{ type: 'fork', origin: own, seqs: [1], marks: new Uint8Array(7) }, 'fork.marks is not marks'],
    [{ type: 'sealed', origins: { [own]: -1 } }, 'sealed.origins is not a version vector'],
    [{ type: 'block', id: 1, bytes: new Uint8Array(blockBytes + 1) }, 'block has more than'],
  ];

  // Some have millions of bytes: a message is no title.
  test.each(messages.map(([sent, fault], index) => [index, fault, sent] as const))('%i: %s', (_index, fault, sent) => {
    expect(() => decodeMessage(encodeMessage(sent))).toThrow(fault);
  });

  function frameOf(operation: Operation): Buffer {
    return encodeMessage({ type: 'operations', id: 1, carried: [{ operation }] });
  }
});

const anyContent = `b3:${'0123456789abcdef'.repeat(4)}` as ContentId;

function core() {
  return { origin: own, seq: 7, hlc: 1_700_000_000_000 * 1_024, path: 'a/b', version: { vector: { [own]: 7 } } };
}

function put(fields: Partial<Operation>): Operation {
  const content = `b3:${'0123456789abcdef'.repeat(4)}` as ContentId;
  return { ...core(), kind: 'put', content, size: 5, mode: 0o644, mtimeUs: 1_700_000_000_123_456, ...fields };
}

import {
  blockBytes,
  type CarriedOperation,
  type ContentId,
  type MemberId,
  markBytes,
  memberPath,
  type Operation,
  type OriginId,
  type PeerMessage,
  pathFault,
  problemCodes,
  spanMax,
  type Version,
} from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';
import fc from 'fast-check';

/** The members that send these messages. */
export const members = ['a', 'b', 'c'].map((letter) => letter.repeat(52) as MemberId);
/** Two journals of each member. */
export const origins = members.flatMap((member) =>
  ['aaaaaaaa', 'bbbbbbbb'].map((journal) => `${member}.${journal}` as OriginId),
);
const [own] = origins as [OriginId];

const seq = fc.integer({ min: 1, max: 1_000_000 });
const count = fc.maxSafeNat();
const id = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const path = fc
  .array(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
  .map((names) => names.join('/'))
  .filter((text) => pathFault(text) === undefined);
const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
const smallId = hex.map((digits) => `b3:${digits}` as ContentId);
const treeId = hex.map((digits) => `b3t:${digits}` as ContentId);
const anyId = fc.oneof(smallId, treeId);
const vector = fc.dictionary(fc.constantFrom(...origins), seq) as fc.Arbitrary<Record<OriginId, number>>;
const range = fc.tuple(count, count).map(([a, b]) => (a < b ? [a, b] : [b, a]) as [number, number]);
const applied = fc.record({
  vector,
  ranges: fc.dictionary(fc.constantFrom(...origins), fc.array(range, { maxLength: 4 })) as fc.Arbitrary<
    Record<OriginId, [number, number][]>
  >,
});
const memberName = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' });
const memberRecord = fc.record({
  id: fc.constantFrom(...members),
  name: memberName,
  addresses: fc.array(fc.constantFrom('ant:7000', '[::1]:7001'), { maxLength: 3 }),
  membership: fc.constantFrom('joined' as const, 'left' as const),
});

/** The content whose blocks have these hashes. */
export function treeOf(blocks: Uint8Array): { readonly content: ContentId; readonly blocks: Uint8Array } {
  return { content: `b3t:${blake3(blocks).toString('hex')}` as ContentId, blocks };
}

/** Drops undefined fields, as the wire does. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

const fileFields = fc.oneof(
  fc
    .record({ content: smallId, size: fc.integer({ min: 0, max: blockBytes }) })
    .map((fields) => ({ fields, bytes: undefined as Uint8Array | undefined })),
  fc.record({ content: smallId, bytes: fc.uint8Array({ maxLength: 300 }) }).map(({ content, bytes }) => ({
    fields: { content, size: bytes.length },
    bytes: bytes as Uint8Array | undefined,
  })),
  fc.integer({ min: blockBytes + 1, max: 50 * blockBytes }).map((size) => ({
    fields: { size, ...treeOf(new Uint8Array(32 * Math.ceil(size / blockBytes)).fill(size % 251)) },
    bytes: undefined,
  })),
);
const mode = fc.integer({ min: 0, max: 0o7777 });
const mtimeUs = fc.maxSafeInteger();
const target = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 80 })
  .filter((text) => !text.includes('\0') && text.isWellFormed());

const entry: fc.Arbitrary<{ fields: Partial<Operation>; bytes: Uint8Array | undefined }> = fc.oneof(
  fc.record({ file: fileFields, mode, mtimeUs, replaced: optional(anyId), from: optional(path) }).map((value) => ({
    fields: {
      kind: 'put',
      ...value.file.fields,
      mode: value.mode,
      mtimeUs: value.mtimeUs,
      replaced: value.replaced,
      from: value.from,
    } as Partial<Operation>,
    bytes: value.file.bytes,
  })),
  fc.record({ file: fileFields, mode, mtimeUs, replaced: optional(anyId) }).map((value) => ({
    fields: {
      kind: 'attr',
      ...value.file.fields,
      mode: value.mode,
      mtimeUs: value.mtimeUs,
      replaced: value.replaced,
    } as Partial<Operation>,
    bytes: value.file.bytes,
  })),
  fc
    .oneof(
      fc.record({ kind: fc.constant('attr'), mode }),
      fc.record({
        kind: fc.constant('mkdir'),
        mode,
        replaced: optional(anyId),
        from: optional(path),
        span: optional(fc.integer({ min: 1, max: spanMax })),
      }),
      fc.record({ kind: fc.constant('symlink'), target, mtimeUs, replaced: optional(anyId), from: optional(path) }),
      fc.record({ kind: fc.constant('delete'), replaced: optional(anyId) }),
      fc.record({ kind: fc.constant('member'), member: memberRecord }),
    )
    .map((fields) => ({ fields: fields as Partial<Operation>, bytes: undefined })),
);

const carriedOf = (origin: OriginId, number: number): fc.Arbitrary<CarriedOperation> =>
  fc
    .record({
      entry,
      path,
      hlc: count,
      isNew: fc.boolean(),
      vector,
      excepted: fc.array(fc.constantFrom(...origins)),
      hasGroup: fc.boolean(),
      hasKept: fc.boolean(),
      hasMarks: fc.boolean(),
    })
    .map(({ entry: { fields, bytes }, path: at, hlc, isNew, vector: known, excepted, hasGroup, hasKept, hasMarks }) => {
      const all: Record<OriginId, number> = isNew ? { [origin]: number } : { ...known, [origin]: number };
      const except = [...new Set(excepted)]
        .filter((one) => one !== origin && all[one] !== undefined && !isNew)
        .map((one) => ({ origin: one, seq: all[one] as number }));
      const version: Version = except.length === 0 ? { vector: all } : { vector: all, except };
      const kept = Object.entries(known).map(([of, seq]) => ({ origin: of as OriginId, seq }));
      const mayKeep = hasKept && !isNew && (fields.kind === 'attr' ? 'content' in fields : fields.kind !== 'delete');
      const keeps = mayKeep ? kept.filter((dot) => dot.origin !== origin) : [];
      const others = Object.keys(all).length - 1;
      const operation = defined({
        origin,
        seq: number,
        hlc,
        path: fields.member === undefined ? at : memberPath(fields.member.id),
        version,
        group: hasGroup && fields.kind !== 'member' ? number : undefined,
        keeps: keeps.length > 0 ? keeps : undefined,
        marks: hasMarks && others > 0 ? new Uint8Array(others * markBytes).fill(hlc % 251) : undefined,
        ...fields,
      }) as Operation;
      return bytes === undefined ? { operation } : { operation, bytes };
    });

const operations: fc.Arbitrary<PeerMessage> = fc
  .record({ id, first: seq, origin: fc.constantFrom(...origins), length: fc.integer({ min: 0, max: 12 }) })
  .chain((frame) =>
    fc
      .tuple(...Array.from({ length: frame.length }, (_, index) => carriedOf(frame.origin, frame.first + index)))
      .map((carried) => ({ type: 'operations' as const, id: frame.id, carried })),
  );

const state = fc.constantFrom('joining' as const, 'syncing' as const, 'active' as const, 'left' as const);
const number = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
const positive = number.map((value) => (value === 0 ? 0 : value));

const marks = fc
  .integer({ min: 0, max: 3 })
  .chain((length) => fc.uint8Array({ minLength: 8 * length, maxLength: 8 * length }));

const selfReport = fc
  .record({
    state,
    enabledAt: optional(count),
    known: vector,
    marks,
    applied,
    digest: hex.map((digits) => digits.slice(0, 16)),
    pending: count,
    files: count,
    bytes: count,
    totalBytes: count,
    missingBytes: count,
    bytesPerSecond: optional(positive),
    freeBytes: count,
    load: positive,
    problems: count,
    worstProblem: optional(fc.constantFrom(...problemCodes, 'code-of-a-newer-version')),
    progress: optional(fc.record({ source: fc.constantFrom(...members), done: count, total: count })),
    latenciesMs: fc.dictionary(fc.constantFrom(...members), positive),
  })
  .map(defined);

/** Any message that the protocol allows; byte arrays are short. */
export const anyMessage: fc.Arbitrary<PeerMessage> = fc.oneof(
  operations,
  fc
    .record({
      name: memberName,
      addresses: fc.array(memberName, { maxLength: 3 }),
      known: vector,
      marks,
      applied,
      sealed: vector,
      state,
      enabledAt: optional(count),
    })
    .map((fields) => defined({ type: 'hello' as const, origin: own, software: '0.1.0', ...fields })),
  fc.record({
    type: fc.constant('subscribe'),
    origin: fc.constantFrom(...origins),
    after: count,
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('received'), id }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('missing'),
    id,
    lacks: fc.boolean(),
    shows: fc.boolean(),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('withdraw'), ids: fc.array(id, { maxLength: 20 }) }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('have'),
    content: anyId,
    blocks: fc.array(
      fc.tuple(fc.nat(500_000), fc.nat(1_000)).map(([from, more]) => [from, from + more] as const),
      { maxLength: 4 },
    ),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('holdings'),
    seq: count,
    bits: fc.constantFrom(0, 128, 1_024).map((length) => new Uint8Array(length).fill(length)),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('flipped'),
    seq: count,
    positions: fc.array(fc.nat(2 ** 24 - 1), { maxLength: 20 }),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('retell') }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('pull'), id, known: vector }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('pulled'), id, total: count, done: fc.boolean() }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('want'), id, content: anyId, index: count, path }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    ...{ type: fc.constant('want'), id, content: anyId, index: count, path },
    ranges: fc.array(fc.tuple(count, fc.integer({ min: 1, max: 4_096 })), { minLength: 1, maxLength: 256 }),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('block'),
    id,
    bytes: fc.uint8Array({ maxLength: 2_000 }),
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('ack'), known: vector, marks, applied }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('leave'), retire: fc.boolean() }) as fc.Arbitrary<PeerMessage>,
  fc.record({
    type: fc.constant('fork'),
    origin: fc.constantFrom(...origins),
    seqs: fc.array(count, { maxLength: 5 }),
    marks,
  }) as fc.Arbitrary<PeerMessage>,
  fc.record({ type: fc.constant('sealed'), origins: vector }) as fc.Arbitrary<PeerMessage>,
  fc
    .tuple(optional(selfReport), id, positive, optional(fc.record({ id, heldMs: positive })))
    .map(
      ([said, number, wallMs, echo]) =>
        defined({ type: said ? 'heartbeat' : 'pulse', ...said, id: number, wallMs, echo }) as PeerMessage,
    ),
  fc
    .record({
      member: fc.constantFrom(...members),
      session: count,
      agoMs: positive,
      said: optional(selfReport),
      gone: optional(fc.constantFrom('stopped', 'paused')),
    })
    .map((fields) => defined({ type: 'report', ...fields }) as PeerMessage),
);

import {
  type Applied,
  addressesSchema,
  announcedBlocksMax,
  appliedRangesMax,
  blockBytes,
  blockRangesMax,
  type ContentId,
  carriedAddresses,
  fileBytesMax,
  filterBytesMax,
  flippedShareMax,
  forkMarksMax,
  isContentId,
  isMemberId,
  isOriginId,
  type MemberId,
  markBytes,
  memberNameCharactersMax,
  memberNameSchema,
  membersMax,
  type OriginId,
  originsAcceptedMax,
  type PeerMessage,
  type PeerMessageType,
  pathBytesMax,
  type SeqRange,
  type VersionVector,
  type WantMessage,
  withdrawnWantsMax,
} from '@lockstep/shared';
import { z } from 'zod';
import { isFilterLength } from '../../core/cache/holdings-filter.ts';
import { problemCodeCharactersMax } from '../limits.ts';

/** The largest id of a message: 48 bits, as in a `block` frame. */
export const messageIdMax = 2 ** 48 - 1;

const count = z.int().min(0);
const id = z.int().min(0).max(messageIdMax);
const memberId = z.custom<MemberId>(isMemberId, 'is not a member id');
const originId = z.custom<OriginId>(isOriginId, 'is not an origin id');
const contentId = z.custom<ContentId>(isContentId, 'is not a content id');
const milliseconds = z.number().min(0);
const vector = z.custom<VersionVector>(isVector, 'is not a version vector');
const ranges = z.custom<Applied['ranges']>(isRanges, 'is not ranges of sequence numbers');
const blockRanges = z.custom<readonly SeqRange[]>(isBlockRanges, 'is not ranges of blocks');
const applied = z.object({ vector, ranges });
const marks = z.custom<Uint8Array>(isMarks, 'is not marks');
const state = z.enum(['joining', 'syncing', 'active', 'suspect', 'down', 'left']);
const latencies = z.custom<Readonly<Record<MemberId, number>>>(isLatencies, 'is not round trips to members');

const selfReport = z.object({
  state,
  enabledAt: milliseconds.optional(),
  known: vector,
  marks,
  applied,
  digest: z.string().regex(/^[0-9a-f]{16}$/, 'is not 16 hexadecimal digits'),
  pending: count,
  files: count,
  bytes: z.number().min(0),
  totalBytes: z.number().min(0),
  missingBytes: z.number().min(0),
  bytesPerSecond: z.number().min(0).optional(),
  lackingCopies: z
    .object({ files: count, bytes: z.number().min(0), isFull: z.boolean(), isUnavailable: z.boolean() })
    .optional(),
  freeBytes: z.number().min(0).optional(),
  load: z.number().min(0),
  problems: count,
  worstProblem: z.string().max(problemCodeCharactersMax).optional(),
  webhook: z.string().max(problemCodeCharactersMax).optional(),
  progress: z.object({ source: memberId, done: count, total: count }).optional(),
  latenciesMs: latencies,
});

/** The common fields of a heartbeat and a pulse. */
const beat = {
  id,
  wallMs: z.number(),
  echo: z.object({ id, heldMs: z.number().min(0) }).optional(),
  sends: z.boolean().optional(),
};

/** The types of messages whose body is a map of their fields; the other two have a form of their own. */
export type MapMessageType = Exclude<PeerMessageType, 'operations' | 'block'>;

type Body<T extends PeerMessageType> = Omit<Extract<PeerMessage, { type: T }>, 'type'>;

/** The schema of each of these bodies. Unknown fields are dropped. */
export const bodySchemas: { readonly [T in MapMessageType]: z.ZodType<Body<T>> } = {
  hello: z.object({
    name: memberNameSchema,
    addresses: addressesSchema.transform(carriedAddresses),
    origin: originId,
    known: vector,
    marks,
    applied,
    sealed: vector,
    state,
    enabledAt: milliseconds.optional(),
    software: z.string().max(memberNameCharactersMax),
    onDemand: z.literal(true).optional(),
  }),
  subscribe: z.object({ origin: originId, after: count }),
  received: z.object({ id }),
  pull: z.object({ id, known: vector }),
  pulled: z.object({ id, total: count, done: z.boolean() }),
  want: z.object({
    id,
    content: contentId,
    index: count,
    path: z.string().max(pathBytesMax),
    probe: z.boolean().optional(),
    keep: z.boolean().optional(),
    recipe: z.boolean().optional(),
    ranges: z.custom<WantMessage['ranges']>(isRangesInBlock, 'is not ranges of a block').optional(),
  }),
  missing: z.object({ id, lacks: z.boolean(), shows: z.boolean(), named: z.boolean().optional() }),
  withdraw: z.object({ ids: z.array(id).max(withdrawnWantsMax) }),
  have: z.object({ content: contentId, blocks: blockRanges }),
  holdings: z.object({ seq: count, bits: z.custom<Uint8Array>(isFilter, 'is not a filter') }),
  flipped: z.object({
    seq: count,
    positions: z.custom<readonly number[]>(isPositions, 'is not positions in a filter'),
  }),
  retell: z.object({}),
  ack: z.object({ known: vector, marks, applied }),
  heartbeat: selfReport.extend(beat),
  pulse: z.object(beat),
  report: z.object({
    member: memberId,
    session: count,
    agoMs: milliseconds,
    said: selfReport.optional(),
    gone: z.enum(['stopped', 'paused']).optional(),
  }),
  leave: z.object({ retire: z.boolean(), paused: z.boolean().optional() }),
  fork: z.object({ origin: originId, seqs: z.array(count).max(forkMarksMax), marks }),
  sealed: z.object({ origins: vector }),
};

function entriesOf(value: unknown, countMax: number): [string, unknown][] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.length <= countMax ? entries : undefined;
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isVector(value: unknown): boolean {
  return entriesOf(value, originsAcceptedMax)?.every(([origin, seq]) => isOriginId(origin) && isSeq(seq)) ?? false;
}

function isMarks(value: unknown): boolean {
  return (
    value instanceof Uint8Array && value.length <= originsAcceptedMax * markBytes && value.length % markBytes === 0
  );
}

/** Ranges of a block, with at most as many bytes together: an answer must not be larger than a block. */
function isRangesInBlock(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > blockRangesMax) return false;
  let bytes = 0;
  for (const range of value as unknown[]) {
    if (!Array.isArray(range) || range.length !== 2 || !isSeq(range[0]) || !isSeq(range[1]) || range[1] < 1)
      return false;
    bytes += range[1];
  }
  return bytes <= blockBytes;
}

function isRange(value: unknown): value is SeqRange {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to] = value as [unknown, unknown];
  return isSeq(from) && isSeq(to) && from <= to;
}

function isRanges(value: unknown): boolean {
  const ofOne = ([origin, list]: [string, unknown]) =>
    isOriginId(origin) && Array.isArray(list) && list.length <= appliedRangesMax && list.every(isRange);
  return entriesOf(value, originsAcceptedMax)?.every(ofOne) ?? false;
}

function isBlockRanges(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > announcedBlocksMax) return false;
  return value.every((range) => isRange(range) && range[1] < fileBytesMax / blockBytes);
}

function isFilter(value: unknown): boolean {
  return value instanceof Uint8Array && (value.length === 0 || isFilterLength(value.length));
}

function isPositions(value: unknown): boolean {
  const bitsMax = filterBytesMax * 8;
  if (!Array.isArray(value) || value.length > bitsMax * flippedShareMax) return false;
  return value.every((position) => isSeq(position) && position < bitsMax);
}

function isLatencies(value: unknown): boolean {
  const ofOne = ([member, rttMs]: [string, unknown]) =>
    isMemberId(member) && typeof rttMs === 'number' && Number.isFinite(rttMs) && rttMs >= 0;
  return entriesOf(value, 2 * membersMax)?.every(ofOne) ?? false;
}

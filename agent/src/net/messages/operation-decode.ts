import { isUtf8 } from 'node:buffer';
import {
  acceptingLimits,
  type CarriedOperation,
  type ContentId,
  type Dot,
  inlineBytesMax,
  isOriginId,
  memberRecordSchema,
  type Operation,
  type OriginId,
  operationFault,
  operationsPerFrameMax,
  originsAcceptedMax,
  type Version,
} from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';
import { frameFault } from '../frame-fault.ts';
import { messageIdMax } from './message-schema.ts';
import { fixedFields, flagsFault, flagsMax, has, kindMask, kinds } from './operation-fields.ts';

/** Longer than any text that passes the rules of operations: a longer one is not decoded. */
const textBytesMax = 2 ** 16;

/**
 * Checks and decodes the body of an `operations` frame. No byte array of the result shares memory with the frame. Throws `frame-invalid`.
 */
export function decodeOperations(body: unknown): { id: number; carried: CarriedOperation[] } {
  if (!Array.isArray(body) || body.length !== 3) throw frameFault('operations', 'is not an array of three');
  const [id, origins, rows] = body as [unknown, unknown, unknown];
  if (!isInteger(id, 0, messageIdMax)) throw frameFault('id', `is not a whole number from 0 to ${messageIdMax}`);
  assertOrigins(origins);
  if (!Array.isArray(rows)) throw frameFault('operations', 'is not an array');
  if (rows.length > 2 * operationsPerFrameMax) {
    throw frameFault('operations', `has ${rows.length} entries, more than ${2 * operationsPerFrameMax}`);
  }
  const carried: CarriedOperation[] = [];
  const lastSeqs: (number | undefined)[] = new Array(origins.length);
  for (let index = 0; index < rows.length; index++) {
    const reader = new RowReader(rows[index], `operations[${index}]`, origins);
    const entry = reader.carried();
    const last = lastSeqs[reader.originIndex];
    if (last !== undefined && entry.operation.seq !== last + 1) {
      throw frameFault(`operations[${index}].seq`, `is ${entry.operation.seq} and follows ${last}`);
    }
    lastSeqs[reader.originIndex] = entry.operation.seq;
    carried.push(entry);
  }
  return { id, carried };
}

function assertOrigins(origins: unknown): asserts origins is OriginId[] {
  if (!Array.isArray(origins)) throw frameFault('origins', 'is not an array');
  if (origins.length > originsAcceptedMax) throw frameFault('origins', `has more than ${originsAcceptedMax} entries`);
  for (const origin of origins)
    if (!isOriginId(origin)) throw frameFault('origins', 'has an entry that is not an origin id');
  if (new Set(origins).size < origins.length) throw frameFault('origins', 'names an origin twice');
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Reads one operation's array from left to right; `at` is its place in the frame, for messages. */
class RowReader {
  readonly #row: unknown[];
  readonly #at: string;
  readonly #origins: readonly OriginId[];
  #next = 0;
  originIndex = 0;

  constructor(row: unknown, at: string, origins: readonly OriginId[]) {
    if (!Array.isArray(row)) throw frameFault(at, 'is not an array');
    this.#row = row;
    this.#at = at;
    this.#origins = origins;
  }

  carried(): CarriedOperation {
    const flags = this.#integer('flags', 0, flagsMax);
    const kind = kinds[flags & kindMask];
    if (kind === undefined) throw this.#fault('kind', `has the unknown number ${flags & kindMask}`);
    this.#assertFields(kind, flags);
    const origin = this.#origin();
    const seq = this.#number();
    const hlc = this.#number();
    const path = this.#utf8('path');
    const version = (flags & has.version) === 0 ? { vector: { [origin]: seq } } : this.#version();
    const operation: Mutable<Operation> = { origin, seq, hlc, kind, path, version };
    if (flags & has.content) operation.content = this.#contentId('content');
    if (flags & has.replaced) operation.replaced = this.#contentId('replaced');
    if (flags & has.size) operation.size = this.#number();
    if (flags & has.mode) operation.mode = this.#number();
    if (flags & has.mtimeUs) operation.mtimeUs = this.#number();
    if (flags & has.target) operation.target = this.#utf8('target');
    if (flags & has.from) operation.from = this.#utf8('from');
    if (flags & has.group) operation.group = this.#number();
    if (flags & has.span) operation.span = this.#number();
    if (flags & has.blocks) operation.blocks = ownBytes(this.#bytes('blocks'));
    if (flags & has.member) this.#member(operation);
    // The bytes accompany the operation and are no field of it, so they come before `keeps`.
    const bytes = flags & has.bytes ? this.#bytes('bytes') : undefined;
    if (flags & has.keeps) operation.keeps = this.#dots('keeps', this.#row[this.#next++], acceptingLimits.keepsMax);
    if (flags & has.marks) operation.marks = ownBytes(this.#bytes('marks'));
    const fault = operationFault(operation, acceptingLimits);
    if (fault !== undefined) throw this.#fault(fault.field, fault.what);
    this.#assertBlocks(operation);
    if (bytes === undefined) return { operation };
    if (bytes.length !== operation.size)
      throw this.#fault('bytes', `are ${bytes.length}, not the file's ${operation.size}`);
    if (bytes.length > inlineBytesMax) throw this.#fault('bytes', `are more than ${inlineBytesMax}`);
    return { operation, bytes: ownBytes(bytes) };
  }

  /** Throws unless the kind has the fields it needs and no others, and the array is as long as the flags say. */
  #assertFields(kind: Operation['kind'], flags: number): void {
    const fault = flagsFault(kind, flags);
    if (fault !== undefined) throw this.#fault(kind, fault);
    let fields = fixedFields;
    for (let rest = flags & ~kindMask; rest !== 0; rest &= rest - 1) fields++;
    if (this.#row.length !== fields) throw this.#fault(kind, `has ${this.#row.length} fields, not ${fields}`);
  }

  #origin(): OriginId {
    this.originIndex = this.#integer('origin', 0, this.#origins.length - 1);
    return this.#origins[this.originIndex] as OriginId;
  }

  #version(): Version {
    const value = this.#row[this.#next++];
    if (!Array.isArray(value) || value.length !== 2) throw this.#fault('version', 'is not an array of two');
    const vector: Record<OriginId, number> = {};
    for (const dot of this.#dots('version.vector', value[0], acceptingLimits.originsMax)) {
      if (vector[dot.origin] !== undefined) throw this.#fault('version.vector', 'names an origin twice');
      vector[dot.origin] = dot.seq;
    }
    const except = this.#dots('version.except', value[1], acceptingLimits.exceptionsMax);
    return except.length === 0 ? { vector } : { vector, except };
  }

  /** Reads pairs of an origin's index in the frame and a number, which `operationFault` checks. */
  #dots(field: string, value: unknown, countMax: number): Dot[] {
    if (!Array.isArray(value) || value.length % 2 !== 0) throw this.#fault(field, 'is not an array of pairs');
    if (value.length > 2 * countMax) throw this.#fault(field, `has more than ${countMax} entries`);
    const dots: Dot[] = [];
    for (let index = 0; index < value.length; index += 2) {
      const origin = this.#origins[value[index]];
      if (origin === undefined) throw this.#fault(field, 'names an origin that the frame does not list');
      dots.push({ origin, seq: value[index + 1] as number });
    }
    return dots;
  }

  #contentId(field: string): ContentId {
    const bytes = this.#bytes(field);
    const domain = bytes[0];
    if (bytes.length !== 33 || (domain !== 1 && domain !== 2)) throw this.#fault(field, 'is not a content id');
    return `${domain === 1 ? 'b3' : 'b3t'}:${bytes.toString('hex', 1)}` as ContentId;
  }

  #member(operation: Mutable<Operation>): void {
    const result = memberRecordSchema.safeParse(this.#row[this.#next++]);
    if (!result.success) throw this.#fault('member', 'is not a member record');
    operation.member = result.data;
  }

  /** The journal keeps the first hashes of a content: wrong ones would refuse its true bytes from then on. */
  #assertBlocks({ content, blocks }: Operation): void {
    if (blocks !== undefined && content !== `b3t:${blake3(blocks).toString('hex')}`) {
      throw this.#fault('blocks', 'are not those of the content id');
    }
  }

  /** The next value, unchecked: `operationFault` checks its type and range. */
  #number(): number {
    return this.#row[this.#next++] as number;
  }

  #integer(field: string, min: number, max: number): number {
    const value = this.#row[this.#next++];
    if (!isInteger(value, min, max)) throw this.#fault(field, `is not a whole number from ${min} to ${max}`);
    return value;
  }

  #bytes(field: string): Buffer {
    const value = this.#row[this.#next++];
    if (!Buffer.isBuffer(value)) throw this.#fault(field, 'is not binary');
    return value;
  }

  #utf8(field: string): string {
    const bytes = this.#bytes(field);
    if (bytes.length > textBytesMax) throw this.#fault(field, `is longer than ${textBytesMax} bytes`);
    if (!isUtf8(bytes)) throw this.#fault(field, 'is not UTF-8');
    return bytes.toString('utf8');
  }

  #fault(field: string, what: string): Error {
    return frameFault(`${this.#at}.${field}`, what);
  }
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/**
 * A copy with memory of its own. A view would keep the whole frame alive while a few of its bytes wait, and posting it to a worker would
 * clone the frame.
 */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

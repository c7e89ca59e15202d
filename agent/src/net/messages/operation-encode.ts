import type { CarriedOperation, ContentId, Dot, Operation, OriginId, Version } from '@lockstep/shared';
import { has, kinds } from './operation-fields.ts';

/** The body of an `operations` frame: the id, the origins that occur, and an array for each operation. */
export function encodeOperations(id: number, carried: readonly CarriedOperation[]): unknown[] {
  const origins = new OriginTable();
  const rows = carried.map((entry) => encodeOperation(entry, origins));
  return [id, origins.list, rows];
}

/** Numbers the origins of a frame in order of appearance. */
class OriginTable {
  readonly list: OriginId[] = [];
  readonly #indexes = new Map<OriginId, number>();

  indexOf(origin: OriginId): number {
    let index = this.#indexes.get(origin);
    if (index === undefined) {
      index = this.list.push(origin) - 1;
      this.#indexes.set(origin, index);
    }
    return index;
  }
}

function encodeOperation({ operation, bytes }: CarriedOperation, origins: OriginTable): unknown[] {
  let flags = kinds.indexOf(operation.kind);
  // Paths are sent as bytes: a MessagePack reader may remove a leading byte order mark from a string.
  const row: unknown[] = [
    flags,
    origins.indexOf(operation.origin),
    operation.seq,
    operation.hlc,
    Buffer.from(operation.path, 'utf8'),
  ];
  if (!isOwnDotAlone(operation)) {
    flags |= has.version;
    row.push(encodeVersion(operation.version, origins));
  }
  if (operation.content !== undefined) {
    flags |= has.content;
    row.push(encodeContentId(operation.content));
  }
  if (operation.replaced !== undefined) {
    flags |= has.replaced;
    row.push(encodeContentId(operation.replaced));
  }
  if (operation.size !== undefined) {
    flags |= has.size;
    row.push(operation.size);
  }
  if (operation.mode !== undefined) {
    flags |= has.mode;
    row.push(operation.mode);
  }
  if (operation.mtimeUs !== undefined) {
    flags |= has.mtimeUs;
    row.push(operation.mtimeUs);
  }
  if (operation.target !== undefined) {
    flags |= has.target;
    row.push(Buffer.from(operation.target, 'utf8'));
  }
  if (operation.from !== undefined) {
    flags |= has.from;
    row.push(Buffer.from(operation.from, 'utf8'));
  }
  if (operation.group !== undefined) {
    flags |= has.group;
    row.push(operation.group);
  }
  if (operation.span !== undefined) {
    flags |= has.span;
    row.push(operation.span);
  }
  if (operation.blocks !== undefined) {
    flags |= has.blocks;
    row.push(operation.blocks);
  }
  if (operation.member !== undefined) {
    const { id, name, addresses, membership, ...more } = operation.member;
    flags |= has.member;
    row.push({ id, name, addresses, membership, ...withoutAbsent(more) });
  }
  if (bytes !== undefined) {
    flags |= has.bytes;
    row.push(bytes);
  }
  if (operation.keeps !== undefined) {
    flags |= has.keeps;
    row.push(encodeDots(operation.keeps, origins));
  }
  if (operation.marks !== undefined) {
    flags |= has.marks;
    row.push(operation.marks);
  }
  row[0] = flags;
  return row;
}

/** Without the fields that have no value: on the wire they would have one. */
function withoutAbsent<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** True for a version that is implied by the dot: `{ vector: { [origin]: seq } }`, the version of an operation on a new path. */
function isOwnDotAlone({ origin, seq, version }: Operation): boolean {
  if (version.vector[origin] !== seq || (version.except?.length ?? 0) > 0) return false;
  for (const other in version.vector) if (other !== origin) return false;
  return true;
}

function encodeVersion({ vector, except = [] }: Version, origins: OriginTable): [number[], number[]] {
  const entries: number[] = [];
  for (const origin in vector) entries.push(origins.indexOf(origin as OriginId), vector[origin as OriginId] as number);
  return [entries, encodeDots(except, origins)];
}

function encodeDots(dots: readonly Dot[], origins: OriginTable): number[] {
  return dots.flatMap(({ origin, seq }) => [origins.indexOf(origin), seq]);
}

/** Encodes a content id: one byte for the domain (1: `b3:`, 2: `b3t:`) and the 32 bytes of the hash. */
function encodeContentId(content: ContentId): Buffer {
  const tree = content.charCodeAt(2) === 0x74;
  const bytes = Buffer.allocUnsafe(33);
  bytes[0] = tree ? 2 : 1;
  bytes.write(tree ? content.slice(4) : content.slice(3), 1, 'hex');
  return bytes;
}

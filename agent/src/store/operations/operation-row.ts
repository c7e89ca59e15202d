import {
  type ContentId,
  carriedOperation,
  type Dot,
  type MemberRecord,
  type Operation,
  type OperationKind,
  type OriginId,
  type Version,
} from '@lockstep/shared';
import type { Bindable } from '../statement.ts';
import type { OriginTable } from './origin-table.ts';

/** A row of `ops`. */
export interface OperationRow {
  readonly row: number;
  readonly origin: number;
  readonly seq: number;
  readonly hlc: number;
  readonly kind: number;
  readonly path: string;
  readonly version: string | null;
  readonly content: ContentId | null;
  readonly replaced: ContentId | null;
  readonly size: number | null;
  readonly mode: number | null;
  readonly mtime_us: number | null;
  readonly target: string | null;
  readonly renamed_from: string | null;
  readonly group_seq: number | null;
  readonly span: number | null;
  readonly member: string | null;
  readonly journaled_at: number;
  /** 32 bytes; null only in a journal of an earlier schema, until it is opened. */
  readonly chain: Buffer | null;
  readonly keeps: string | null;
  readonly marks: Buffer | null;
}

const columns = [
  ...[
    'row',
    'origin',
    'seq',
    'hlc',
    'kind',
    'path',
    'version',
    'content',
    'replaced',
    'size',
    'mode',
    'mtime_us',
    'target',
  ],
  ...['renamed_from', 'group_seq', 'span', 'member', 'journaled_at', 'chain', 'keeps', 'marks'],
];

/** The columns for a `SELECT` over `ops`, alone or joined. */
export const operationColumns = columns.map((column) => `ops.${column}`).join(', ');

export const insertOperationSql = `INSERT INTO ops (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

/** The kinds of operations. A kind's number in the table is its index here: append only. */
const kinds: readonly OperationKind[] = ['put', 'mkdir', 'symlink', 'attr', 'delete', 'member'];

/** The number of the kind `delete` in the table. */
export const deleteKind = kinds.indexOf('delete');

/** The values of `insertOperationSql`. */
export function toRow(
  operation: Operation,
  place: { readonly row: number; readonly journaledAt: number; readonly chain: Buffer },
  origins: OriginTable,
): Bindable[] {
  return [
    place.row,
    origins.number(operation.origin),
    operation.seq,
    operation.hlc,
    kinds.indexOf(operation.kind),
    operation.path,
    encodeVersion(operation, origins),
    operation.content ?? null,
    operation.replaced ?? null,
    operation.size ?? null,
    operation.mode ?? null,
    operation.mtimeUs ?? null,
    operation.target ?? null,
    operation.from ?? null,
    operation.group ?? null,
    operation.span ?? null,
    operation.member === undefined ? null : JSON.stringify(operation.member),
    place.journaledAt,
    place.chain,
    operation.keeps === undefined ? null : JSON.stringify(encodeDots(operation.keeps, origins)),
    operation.marks ?? null,
  ];
}

/**
 * The operation of a row, as it may be sent. `blocks`: the block hashes of its content, if the log holds them. Throws for an unknown kind.
 */
export function fromRow(row: OperationRow, origins: OriginTable, blocks: Uint8Array | undefined): Operation {
  const origin = origins.name(row.origin);
  const kind = kinds[row.kind];
  if (kind === undefined) throw new Error(`The journal has no operation kind ${row.kind}.`);
  // Journals may hold times and addresses from before these were checked, and other members refuse those.
  return carriedOperation({
    origin,
    seq: row.seq,
    hlc: row.hlc,
    kind,
    path: row.path,
    version: row.version === null ? { vector: { [origin]: row.seq } } : decodeVersion(row.version, origins),
    ...(row.content !== null && { content: row.content }),
    ...(row.replaced !== null && { replaced: row.replaced }),
    ...(row.size !== null && { size: row.size }),
    ...(row.mode !== null && { mode: row.mode }),
    ...(row.mtime_us !== null && { mtimeUs: row.mtime_us }),
    ...(row.target !== null && { target: row.target }),
    ...(row.renamed_from !== null && { from: row.renamed_from }),
    ...(row.group_seq !== null && { group: row.group_seq }),
    ...(row.span !== null && { span: row.span }),
    ...(blocks !== undefined && { blocks }),
    ...(row.member !== null && { member: JSON.parse(row.member) as MemberRecord }),
    ...(row.keeps !== null && { keeps: decodeDots(JSON.parse(row.keeps) as EncodedDots, origins) }),
    ...(row.marks !== null && { marks: bytesOf(row.marks) }),
  });
}

/** The bytes as they are received, no `Buffer`: an operation is the same value before and after it is stored. */
function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Pairs of origin number and sequence number. */
type EncodedDots = readonly (readonly [origin: number, seq: number])[];

function encodeDots(dots: readonly Dot[], origins: OriginTable): EncodedDots {
  return dots.map(({ origin, seq }) => [origins.number(origin), seq]);
}

function decodeDots(dots: EncodedDots, origins: OriginTable): readonly Dot[] {
  return dots.map(([origin, seq]) => ({ origin: origins.name(origin), seq }));
}

type EncodedVersion = readonly [vector: EncodedDots, except?: EncodedDots];

function encodeVersion({ origin, seq, version }: Operation, origins: OriginTable): string | null {
  const pairs = Object.entries(version.vector) as [OriginId, number][];
  if (version.except === undefined && pairs.length === 1 && version.vector[origin] === seq) return null;
  const vector = pairs.map(([name, upTo]): [number, number] => [origins.number(name), upTo]);
  const encoded: EncodedVersion =
    version.except === undefined ? [vector] : [vector, encodeDots(version.except, origins)];
  return JSON.stringify(encoded);
}

function decodeVersion(text: string, origins: OriginTable): Version {
  const [pairs, exceptions] = JSON.parse(text) as EncodedVersion;
  const vector: Record<OriginId, number> = {};
  for (const [origin, seq] of pairs) vector[origins.name(origin)] = seq;
  if (exceptions === undefined) return { vector };
  return { vector, except: decodeDots(exceptions, origins) };
}

import { fieldRules, type OperationKind, type OptionalField } from '@lockstep/shared';

/** The kinds of operations; the index is the number on the wire. */
export const kinds: readonly OperationKind[] = ['put', 'mkdir', 'symlink', 'attr', 'delete', 'member'];

/** The low bits of an operation's flags hold its kind; each further bit says that a field follows, in the order of the bits. */
export const kindMask = 0b111;
export const has = {
  version: 1 << 3,
  content: 1 << 4,
  replaced: 1 << 5,
  size: 1 << 6,
  mode: 1 << 7,
  mtimeUs: 1 << 8,
  target: 1 << 9,
  from: 1 << 10,
  group: 1 << 11,
  span: 1 << 12,
  blocks: 1 << 13,
  member: 1 << 14,
  bytes: 1 << 15,
  keeps: 1 << 16,
  marks: 1 << 17,
} as const;

/** The largest value of the flags that has only known fields. */
export const flagsMax = (1 << 18) - 1;

/** The number of elements before the optional fields: flags, origin, seq, hlc, path. */
export const fixedFields = 5;

/** Fields that accompany an operation without being part of it. */
const carriedAlong: Readonly<Partial<Record<keyof typeof fieldRules, number>>> = {
  put: has.bytes,
  'file-attr': has.bytes,
};

/** The fault in the `flags` of an operation of this kind, as a sentence without its subject; undefined if there is none. */
export function flagsFault(kind: OperationKind, flags: number): string | undefined {
  const key = kind === 'attr' && (flags & has.content) !== 0 ? 'file-attr' : kind;
  const { required, optional } = fieldRules[key];
  const missing = bitsOf(required) & ~flags;
  if (missing !== 0) return `lacks ${fieldNames(missing)}`;
  const allowed = bitsOf(required) | bitsOf(optional) | (carriedAlong[key] ?? 0) | has.version | kindMask;
  const needless = flags & ~allowed;
  return needless === 0 ? undefined : `has ${fieldNames(needless)}`;
}

function bitsOf(fields: readonly OptionalField[]): number {
  return fields.reduce((bits, field) => bits | has[field], 0);
}

/** Names of the fields in `flags`, for messages. */
function fieldNames(flags: number): string {
  return Object.entries(has)
    .filter(([, bit]) => (flags & bit) !== 0)
    .map(([name]) => name)
    .join(', ');
}

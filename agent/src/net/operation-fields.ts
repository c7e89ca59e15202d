import type { OperationKind } from '@lockstep/shared';

/** Kinds by their number on the wire. */
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
} as const;

/** Flags above this are of no known field. */
export const flagsMax = (1 << 16) - 1;

/** Elements before the optional fields: flags, origin, seq, hlc, path. */
export const fixedFields = 5;

/** Which fields an operation of one kind must have, and which it may have beside them and its version. */
export interface FieldRule {
  readonly required: number;
  readonly optional: number;
}

const file: FieldRule = {
  required: has.content | has.size | has.mode | has.mtimeUs,
  optional: has.replaced | has.group | has.blocks | has.bytes,
};

const rules: Readonly<Record<OperationKind, FieldRule>> = {
  put: { required: file.required, optional: file.optional | has.from | has.span },
  mkdir: { required: has.mode, optional: has.replaced | has.from | has.group | has.span },
  symlink: { required: has.target | has.mtimeUs, optional: has.replaced | has.from | has.group | has.span },
  attr: { required: has.mode, optional: has.group },
  delete: { required: 0, optional: has.replaced | has.group },
  member: { required: has.member, optional: 0 },
};

/** The rule for an operation with these flags. */
export function fieldRule(kind: OperationKind, flags: number): FieldRule {
  return kind === 'attr' && (flags & has.content) !== 0 ? file : rules[kind];
}

/** Names of the fields in `flags`, for messages. */
export function fieldNames(flags: number): string {
  return Object.entries(has)
    .filter(([, bit]) => (flags & bit) !== 0)
    .map(([name]) => name)
    .join(', ');
}

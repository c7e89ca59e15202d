import {
  blockBytes,
  exceptionsAcceptedMax,
  exceptionsMax,
  fileBytesMax,
  fileTimeUsMax,
  fileTimeUsMin,
  keepsAcceptedMax,
  keepsMax,
  markBytes,
  originsAcceptedMax,
  originsMax,
  spanMax,
  targetBytesMax,
} from './limits.ts';
import { carriedMember, memberRecordSchema } from './member-record.ts';
import type { Operation, OperationKind, Version } from './operation.ts';
import { carriedPathFault, memberPath } from './path.ts';

/**
 * The limits in the rules that every operation obeys before it is journaled and before it is accepted. Author and receivers share one
 * definition. The limits for accepting are higher than those for sending, so that no member makes what another refuses.
 */
export interface OperationLimits {
  readonly originsMax: number;
  readonly exceptionsMax: number;
  readonly keepsMax: number;
  readonly fileTimeUsMin: number;
  readonly fileTimeUsMax: number;
}

/** The limits for operations of this member's own. */
export const sendingLimits: OperationLimits = {
  originsMax,
  exceptionsMax,
  keepsMax,
  fileTimeUsMin,
  fileTimeUsMax,
};

/** The limits for operations from others. */
export const acceptingLimits: OperationLimits = {
  originsMax: originsAcceptedMax,
  exceptionsMax: exceptionsAcceptedMax,
  keepsMax: keepsAcceptedMax,
  fileTimeUsMin: Number.MIN_SAFE_INTEGER,
  fileTimeUsMax: Number.MAX_SAFE_INTEGER,
};

/** The fields that only some kinds of operation have. */
export const optionalFields = [
  'content',
  'replaced',
  'size',
  'mode',
  'mtimeUs',
  'target',
  'from',
  'group',
  'span',
  'blocks',
  'member',
  'keeps',
  'marks',
] as const;

export type OptionalField = (typeof optionalFields)[number];

/** The fields that an operation of one kind must have, and those that it may have as well. */
export interface FieldRule {
  readonly required: readonly OptionalField[];
  readonly optional: readonly OptionalField[];
}

const fileFields = ['content', 'size', 'mode', 'mtimeUs'] as const;

/** An `attr` of a file has the fields of that file; `attr` alone is that of a directory. */
export const fieldRules: Readonly<Record<OperationKind | 'file-attr', FieldRule>> = {
  put: { required: fileFields, optional: ['replaced', 'group', 'blocks', 'from', 'span', 'keeps', 'marks'] },
  mkdir: { required: ['mode'], optional: ['replaced', 'from', 'group', 'span', 'keeps', 'marks'] },
  symlink: { required: ['target', 'mtimeUs'], optional: ['replaced', 'from', 'group', 'span', 'keeps', 'marks'] },
  'file-attr': { required: fileFields, optional: ['replaced', 'group', 'blocks', 'keeps', 'marks'] },
  attr: { required: ['mode'], optional: ['group', 'marks'] },
  delete: { required: [], optional: ['replaced', 'group', 'marks'] },
  member: { required: ['member'], optional: ['keeps', 'marks'] },
};

/** A field of an operation and its fault, as in `mode` and `is not a whole number from 0 to 4095`. */
export interface OperationFault {
  readonly field: string;
  readonly what: string;
}

/** The rule that `operation` breaks; undefined if it may be journaled and sent (or accepted, by `limits`). */
export function operationFault(operation: Operation, limits: OperationLimits): OperationFault | undefined {
  return (
    fieldsFault(operation) ??
    numbersFault(operation, limits) ??
    namesFault(operation) ??
    versionFault(operation, limits) ??
    keepsFault(operation, limits) ??
    marksFault(operation) ??
    contentFault(operation)
  );
}

/** The nearest modification time that an operation may have, whole microseconds since the epoch. NaN gives the epoch. */
export function carriedTimeUs(mtimeUs: number): number {
  if (Number.isNaN(mtimeUs)) return 0;
  // The sum is never the negative zero, which the journal does not keep.
  return Math.floor(Math.min(Math.max(mtimeUs, fileTimeUsMin), fileTimeUsMax)) + 0;
}

/** `operation` with the time of a file and a member's addresses changed to the nearest value that may be sent. */
export function carriedOperation(operation: Operation): Operation {
  const { mtimeUs, member } = operation;
  const time = mtimeUs === undefined ? undefined : carriedTimeUs(mtimeUs);
  const record = member === undefined ? undefined : carriedMember(member);
  if (time === mtimeUs && record === member) return operation;
  return {
    ...operation,
    ...(time !== undefined && { mtimeUs: time }),
    ...(record !== undefined && { member: record }),
  };
}

function fieldsFault(operation: Operation): OperationFault | undefined {
  const { kind } = operation;
  const rule = fieldRules[kind === 'attr' && operation.content !== undefined ? 'file-attr' : kind];
  const missing = rule.required.filter((field) => operation[field] === undefined);
  if (missing.length > 0) return { field: kind, what: `lacks ${missing.join(', ')}` };
  const needless = optionalFields.filter(
    (field) => operation[field] !== undefined && !rule.required.includes(field) && !rule.optional.includes(field),
  );
  return needless.length === 0 ? undefined : { field: kind, what: `has ${needless.join(', ')}` };
}

function numbersFault(operation: Operation, limits: OperationLimits): OperationFault | undefined {
  const { seq, hlc, size, mode, mtimeUs, group, span } = operation;
  return (
    integerFault('seq', seq, 1, Number.MAX_SAFE_INTEGER) ??
    integerFault('hlc', hlc, 0, Number.MAX_SAFE_INTEGER) ??
    integerFault('size', size, 0, fileBytesMax) ??
    integerFault('mode', mode, 0, 0o7777) ??
    integerFault('mtimeUs', mtimeUs, limits.fileTimeUsMin, limits.fileTimeUsMax) ??
    integerFault('group', group, 1, seq) ??
    integerFault('span', span, 1, spanMax)
  );
}

function integerFault(field: string, value: number | undefined, min: number, max: number): OperationFault | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return undefined;
  return { field, what: `is not a whole number from ${min} to ${max}` };
}

const encoder = new TextEncoder();

function namesFault({ kind, path, from, target, member }: Operation): OperationFault | undefined {
  if (kind === 'member') {
    if (!memberRecordSchema.safeParse(member).success) return { field: 'member', what: 'is not a member record' };
    return member && path === memberPath(member.id) ? undefined : { field: 'path', what: "is not the member's" };
  }
  for (const [field, value] of [['path', path] as const, ['from', from] as const]) {
    const fault = value === undefined ? undefined : carriedPathFault(value);
    if (fault !== undefined) return { field, what: fault };
  }
  const what = target === undefined ? undefined : targetFault(target);
  return what === undefined ? undefined : { field: 'target', what };
}

function targetFault(target: string): string | undefined {
  if (target === '') return 'is empty';
  if (target.includes('\0')) return 'contains a NUL character';
  if (!target.isWellFormed()) return 'is not well-formed Unicode';
  if (target.length * 3 <= targetBytesMax || encoder.encode(target).length <= targetBytesMax) return undefined;
  return `is longer than ${targetBytesMax} bytes`;
}

function versionFault({ origin, seq, version }: Operation, limits: OperationLimits): OperationFault | undefined {
  const { vector, except = [] }: Version = version;
  const seqs = Object.values(vector);
  const isSeq = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  if (seqs.length > limits.originsMax) return tooMany('version.vector', limits.originsMax);
  if (!seqs.every(isSeq)) return { field: 'version.vector', what: 'has a number that is not one from 1' };
  // A higher number would claim to replace operations that are not made yet.
  if (vector[origin] !== seq) return { field: 'version', what: 'does not end at the operation itself' };
  if (except.length > limits.exceptionsMax) return tooMany('version.except', limits.exceptionsMax);
  for (const dot of except) {
    if (!isSeq(dot.seq)) return { field: 'version.except', what: 'has a number that is not one from 1' };
    if (dot.origin === origin && dot.seq === seq) return { field: 'version', what: 'excepts the operation itself' };
    if (dot.seq > (vector[dot.origin] ?? 0))
      return { field: 'version.except', what: 'names an operation that the vector does not cover' };
  }
  return undefined;
}

function keepsFault({ origin, seq, version, keeps }: Operation, limits: OperationLimits): OperationFault | undefined {
  if (keeps === undefined) return undefined;
  if (keeps.length === 0) return { field: 'keeps', what: 'is empty' };
  if (keeps.length > limits.keepsMax) return tooMany('keeps', limits.keepsMax);
  for (const dot of keeps) {
    if (!Number.isSafeInteger(dot.seq) || dot.seq < 1)
      return { field: 'keeps', what: 'has a number that is not one from 1' };
    if (dot.origin === origin && dot.seq === seq) return { field: 'keeps', what: 'names the operation itself' };
    if (dot.seq > (version.vector[dot.origin] ?? 0))
      return { field: 'keeps', what: 'names an operation that the version does not cover' };
  }
  return undefined;
}

function marksFault({ version, marks }: Operation): OperationFault | undefined {
  if (marks === undefined) return undefined;
  // The vector names the operation's own origin too: `versionFault` has checked that.
  const others = Object.keys(version.vector).length - 1;
  if (others > 0 && marks.length === others * markBytes) return undefined;
  return { field: 'marks', what: `are ${marks.length} bytes, not ${markBytes} for each of ${others} other origins` };
}

function tooMany(field: string, countMax: number): OperationFault {
  return { field, what: `has more than ${countMax} entries` };
}

/** Content of more than one block, and no other, must have a tree's id and the hashes of its blocks. */
function contentFault({ content, size = 0, blocks }: Operation): OperationFault | undefined {
  if (content === undefined) return undefined;
  const isTree = size > blockBytes;
  if (content.startsWith('b3t:') !== isTree) return { field: 'content', what: `is not an id for ${size} bytes` };
  const hashBytes = isTree ? 32 * Math.ceil(size / blockBytes) : 0;
  if ((blocks?.length ?? 0) === hashBytes && (blocks !== undefined) === isTree) return undefined;
  return { field: 'blocks', what: `are ${blocks?.length ?? 0} bytes, not ${hashBytes}` };
}

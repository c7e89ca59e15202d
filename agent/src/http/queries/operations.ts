import { memberOf, type Operation } from '@lockstep/shared';
import type { LoggedOperation, OperationReport, OperationsPage, OperationsQuery } from '@lockstep/shared/api';
import { isConflictPath, lostStamp } from '../../core/conflict-name.ts';
import { stampMs } from '../../core/hlc.ts';
import { isJoin, writerOf } from '../../core/join.ts';
import { isSameContent } from '../../core/merge.ts';
import { findOriginal } from '../../sync/conflicts/find-original.ts';
import type { Engine } from '../../sync/engine.ts';
import type { LogRow } from '../../sync/ports/journal.ts';

/** An operation as it is shown to people. */
export function reportOperation(engine: Engine, operation: Operation): OperationReport {
  const { origin, seq, hlc, kind, path, content, replaced, size, mode, mtimeUs, target, from, group } = operation;
  const member = memberOf(origin);
  return {
    origin,
    seq,
    member,
    memberName: engine.peers.nameOf(member),
    at: stampMs(hlc),
    hlc,
    kind,
    path: operation.member ? operation.member.name : path,
    content,
    replaced,
    size,
    mode,
    mtimeUs,
    target,
    from,
    group,
    membership: operation.member?.membership,
    ...authorshipOf(engine, operation),
  };
}

/** An operation as it is in this member's journal. */
export function reportLogged(engine: Engine, { row, operation, journaledAt }: LogRow): LoggedOperation {
  return { ...reportOperation(engine, operation), row, journaledAt };
}

/** One page of the operation log: newest first below `before`, or oldest first above `after`. */
export function readOperations(engine: Engine, { before, after, limit, path }: OperationsQuery): OperationsPage {
  const beforeRow = after === undefined ? (before ?? Number.MAX_SAFE_INTEGER) : undefined;
  const rows = engine.context.journal.log.rows({ under: path, afterRow: after, beforeRow, limit });
  const operations = rows.map((row) => reportLogged(engine, row));
  return { operations, next: rows.length < limit ? null : (rows.at(-1)?.row ?? null) };
}

/**
 * The conflict that an operation settled, and the conflict copy that a person settled by it. Also the writer of its content, if another
 * operation wrote it.
 */
function authorshipOf(engine: Engine, operation: Operation): Pick<OperationReport, 'writer' | 'conflict' | 'settles'> {
  const lost = lostVersionOf(engine, operation);
  const wrote = writerOf(lost ?? operation, (dot) => engine.context.journal.log.operation(dot));
  const member = memberOf(wrote.origin);
  const isOwn = wrote.origin === operation.origin && wrote.seq === operation.seq;
  return {
    writer: isOwn ? undefined : { member, memberName: engine.peers.nameOf(member), at: stampMs(wrote.hlc) },
    conflict: conflictOf(operation, lost),
    settles: settledCopy(operation),
  };
}

function settledCopy({ kind, path, from = '' }: Operation): string | undefined {
  if (isConflictPath(from)) return from;
  return kind === 'delete' && isConflictPath(path) ? path : undefined;
}

function conflictOf(operation: Operation, lost: Operation | undefined): OperationReport['conflict'] {
  if (lost !== undefined) return { path: lost.path, version: 'copied' };
  const isSettled = isJoin(operation) && operation.kind !== 'member';
  return isSettled ? { path: operation.path, version: 'kept' } : undefined;
}

/** The operation of which this one is the conflict copy. A user may give a file such a name too: then no operation fits. */
function lostVersionOf({ context }: Engine, operation: Operation): Operation | undefined {
  const { kind, path, replaced, from } = operation;
  const isNew = (kind === 'put' || kind === 'symlink') && replaced === undefined && from === undefined;
  if (!isNew || !isConflictPath(path)) return undefined;
  const { journal } = context;
  return journal.log
    .stamped(findOriginal(journal, path), lostStamp(path))
    .find((other) => isSameContent(other, operation));
}

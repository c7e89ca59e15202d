import { memberOf, type Operation } from '@lockstep/shared';
import type { OperationReport } from '@lockstep/shared/api';
import { isConflictPath, lostAtMs, originalPath } from '../../core/conflict-name.ts';
import { stampMs } from '../../core/hlc.ts';
import { isJoin, writerOf } from '../../core/join.ts';
import { isSameContent } from '../../core/merge.ts';
import type { Engine } from '../../sync/engine.ts';

/** The number of the newest operations at a path that are searched for the one whose content lost. */
const searchedMax = 100;

/** The conflict that an operation settled, the conflict copy that a person settled by it, and the writer of its content if another operation wrote it. */
export function authorshipOf(
  engine: Engine,
  operation: Operation,
): Pick<OperationReport, 'writer' | 'conflict' | 'settles'> {
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
  return context.journal.log
    .rows({ path: originalPath(path), beforeRow: Number.MAX_SAFE_INTEGER, limit: searchedMax })
    .map((row) => row.operation)
    .find((other) => stampMs(other.hlc) === lostAtMs(path) && isSameContent(other, operation));
}

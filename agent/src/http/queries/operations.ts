import { memberOf, type Operation } from '@lockstep/shared';
import type { LoggedOperation, OperationReport, OperationsPage, OperationsQuery } from '@lockstep/shared/api';
import { stampMs } from '../../core/hlc.ts';
import type { Engine } from '../../sync/engine.ts';
import type { LogRow } from '../../sync/ports/journal.ts';
import { authorshipOf } from './authorship.ts';

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

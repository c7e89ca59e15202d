import { dotKey, memberOf, type Operation } from '@lockstep/shared';
import type { SettledConflict, SettledPage, UndoRequest, UndoResult } from '@lockstep/shared/api';
import { loserOf } from '../../../core/conflict-name.ts';
import { settlementOf } from '../../../core/history/settlement.ts';
import { stampMs } from '../../../core/hlc.ts';
import { findOriginal } from '../../../sync/conflicts/find-original.ts';
import type { Engine } from '../../../sync/engine.ts';
import { changedSince, type Settled, undoSettlement } from '../../../sync/versions/undo-settlement.ts';

/**
 * The settled conflicts that are listed, and the operations at a path among which their versions are sought. A person settles a conflict by
 * ordinary edits, which do not refer to each other.
 */
const settledMax = 50;
const searchedMax = 50;

/** The conflicts that were settled, newest first, in whatever way and on whatever member. */
export function readSettled(engine: Engine): SettledPage {
  const { journal } = engine.context;
  const settled = journal.conflictCopies.removed(settledMax).flatMap((removal) => {
    const found = settledBy(engine, removal);
    return found === undefined ? [] : [report(engine, found)];
  });
  return { settled };
}

/** Undoes the settlement of a conflict. */
export async function undoConflict(engine: Engine, { copy, settledBy: seen }: UndoRequest): Promise<UndoResult> {
  const [removal] = engine.context.journal.heads.at(copy);
  const found = removal?.kind === 'delete' && dotKey(removal) === seen ? settledBy(engine, removal) : undefined;
  if (found === undefined) {
    return {
      done: false,
      reason: `The conflict of ${copy} was settled otherwise since, or is open again: look at it.`,
    };
  }
  const result = await undoSettlement(engine, found);
  return result.done ? { done: true } : { done: false, reason: result.reason };
}

/** The settlement that a removal of a conflict copy was; undefined if it was none: then the path has no entry either. */
function settledBy(engine: Engine, removal: Operation): Settled | undefined {
  const { journal } = engine.context;
  const { origin, group, path: copy } = removal;
  const path = findOriginal(journal, copy);
  const at = (place: string): readonly Operation[] =>
    journal.log
      .rows({ path: place, beforeRow: Number.MAX_SAFE_INTEGER, limit: searchedMax })
      .map(({ operation }) => operation);
  const first = group === undefined ? undefined : journal.log.operation({ origin, seq: group });
  const renamed = first?.from === copy ? first : undefined;
  const settlement = settlementOf({ removal, atCopy: at(copy), path, atPath: at(path), renamed });
  if (settlement === undefined) return undefined;
  const [now] = journal.heads.at(path);
  const isGone = now === undefined || now.kind === 'delete';
  return settlement.how === 'original' && isGone ? undefined : { ...settlement, copy, path, removal };
}

function report({ context, peers }: Engine, settled: Settled): SettledConflict {
  const { copy, path, removal, how, by } = settled;
  return {
    copy,
    path,
    settledBy: dotKey(removal),
    how,
    to: how === 'both' ? by?.path : undefined,
    by: peers.nameOf(memberOf(removal.origin)),
    at: stampMs(removal.hlc),
    loser: loserOf(copy),
    changed: changedSince(context, settled),
  };
}

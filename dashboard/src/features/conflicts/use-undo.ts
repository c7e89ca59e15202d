import type { SettledConflict, UndoResult } from '@lockstep/shared/api';
import { useState } from 'react';
import { askApi, sentenceOf } from '../../live/use-api.ts';

/** A content may have to come from another member over a slow line. */
const undoTimeoutMs = 3_600_000;

export interface Undo {
  /** `settledBy` of the settlement that is being undone. */
  readonly undoing: string | undefined;
  /** The reasons why settlements were not undone, by `settledBy`. */
  readonly refusals: ReadonlyMap<string, string>;
  readonly undo: (settled: SettledConflict) => Promise<void>;
}

/** Undoes settlements of conflicts, one at a time. `undone` is called after each that was. */
export function useUndo(undone: (settled: SettledConflict) => void): Undo {
  const [undoing, setUndoing] = useState<string>();
  const [refusals, setRefusals] = useState<ReadonlyMap<string, string>>(new Map());
  const undo = async (settled: SettledConflict): Promise<void> => {
    const { copy, settledBy } = settled;
    setUndoing(settledBy);
    const reason = await askUndo(copy, settledBy);
    setRefusals((before) => {
      const next = new Map(before);
      if (reason === undefined) next.delete(settledBy);
      else next.set(settledBy, reason);
      return next;
    });
    setUndoing(undefined);
    if (reason === undefined) undone(settled);
  };
  return { undoing, refusals, undo };
}

/** Asks the agent to undo a settlement. Returns the reason if it did not. */
async function askUndo(copy: string, settledBy: string): Promise<string | undefined> {
  try {
    const body = { copy, settledBy };
    const { done, reason = 'The agent gave no reason.' } = await askApi<UndoResult>('/conflicts/undo', {
      method: 'POST',
      body,
      timeoutMs: undoTimeoutMs,
    });
    return done ? undefined : reason;
  } catch (error) {
    return sentenceOf(error);
  }
}

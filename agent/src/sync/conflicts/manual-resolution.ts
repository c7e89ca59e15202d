import { dotKey, isLive, type Operation, pathFault } from '@lockstep/shared';
import { isConflictPath, ordinaryPath } from '../../core/conflict-name.ts';
import { isDirectoryMode } from '../../core/entry.ts';
import type { Action } from '../../core/plan/action.ts';
import { unseen, withCurrent } from '../integrity/current-version.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import { findOriginal } from './find-original.ts';

/** A user's decision about one conflict copy, with the versions that the user saw. */
export interface ConflictChoice {
  readonly copy: string;
  readonly keep: 'original' | 'copy' | 'both';
  /** `dotKey` of the copy. */
  readonly copySeen: string;
  /** `dotKey` of the entry at the original path; null if there was none. */
  readonly originalSeen: string | null;
}

/** `path`: the new path of the copy, if both were kept. `reason`: a sentence that says why nothing was done. */
export type Resolution =
  | { readonly done: true; readonly path?: string }
  | { readonly done: false; readonly reason: string };

const namesTriedMax = 100;

/**
 * Resolves one conflict in this member's folder, as a user with a shell would: `mark` then has the change journaled like any other.
 * Under the folder lock it compares the entries with those that the user saw, and changes nothing if they differ.
 */
export async function resolveConflict(
  context: Context,
  choice: ConflictChoice,
  mark: (path: string) => void,
): Promise<Resolution> {
  const { copy, keep } = choice;
  if (pathFault(copy) !== undefined || !isConflictPath(copy)) return refused(`${copy} is not a conflict copy.`);
  const path = findOriginal(context.journal, copy);
  return withCurrent(context, [copy, path], async (currentAt) => {
    const loser = await currentAt(copy);
    if ('problem' in loser) return refused(loser.problem);
    if (loser.operation === undefined) return refused(`${copy} is gone: this conflict is already resolved.`);
    if (dotKey(loser.operation) !== choice.copySeen) return refused(unseen(copy));
    const winner = await currentAt(path);
    if ('problem' in winner) return refused(winner.problem);
    if ((winner.operation ? dotKey(winner.operation) : null) !== choice.originalSeen) return refused(unseen(path));

    const { fingerprint } = loser;
    switch (keep) {
      case 'original':
        if (winner.operation === undefined) {
          return refused(`There is no entry at ${path} any more: keep the copy, or delete it like any other file.`);
        }
        return await done(context, { do: 'unlink', path: copy, expected: fingerprint }, loser.operation, mark);
      case 'copy': {
        const expected = winner.operation === undefined ? 'absent' : winner.fingerprint;
        if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
          return refused(`There is a directory at ${path}: keep the directory, or both.`);
        }
        const action = { do: 'rename', from: copy, to: path, expectedFrom: fingerprint, expected } as const;
        return await done(context, action, winner.operation, mark);
      }
      case 'both': {
        const to = await freePath(context, copy);
        if (to === undefined) return refused(`No free name was found for ${copy}: rename it yourself.`);
        const action = { do: 'rename', from: copy, to, expectedFrom: fingerprint, expected: 'absent' } as const;
        const outcome = await done(context, action, undefined, mark);
        return outcome.done ? { ...outcome, path: to } : outcome;
      }
    }
  });
}

/** Executes the action. The content of `replaced` goes to history like any other old version. */
async function done(
  context: Context,
  action: Extract<Action, { do: 'unlink' | 'rename' }>,
  replaced: Operation | undefined,
  mark: (path: string) => void,
): Promise<Resolution> {
  const [result] = await applyActions(context, [{ action, keep: replaced?.content }]);
  const paths = action.do === 'rename' ? [action.from, action.to] : [action.path];
  for (const path of paths) mark(path);
  if (result?.result === 'problem') return refused(result.detail);
  return result?.result === 'done' ? { done: true } : refused(unseen(paths.join(' or ')));
}

/** The first ordinary name for the copy that is free in the journal and on the disk; undefined if it is invalid or ignored. */
async function freePath({ journal, folder, ignored }: Context, copy: string): Promise<string | undefined> {
  for (let attempt = 1; attempt <= namesTriedMax; attempt++) {
    const path = ordinaryPath(copy, attempt);
    if (pathFault(path) !== undefined || ignored.ignores(path, false)) return undefined;
    if (journal.heads.at(path).some(isLive)) continue;
    const [seen] = await folder.observe([{ path }]);
    if (seen?.state === 'absent') return path;
  }
  return undefined;
}

function refused(reason: string): Resolution {
  return { done: false, reason };
}

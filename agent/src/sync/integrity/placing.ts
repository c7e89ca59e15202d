import { entryType, freeBytesMin, isLive, parentOf } from '@lockstep/shared';
import { formatBytes } from '@lockstep/shared/present';
import type { Action } from '../../core/plan/action.ts';
import type { Context } from '../state/context.ts';

/** Number of a directory's newest operations that are searched for its mode. */
const modesSearchedMax = 50;

/** The mode of a directory that is made and has none of its own yet. */
export const directoryMode = 0o755;

/** An entry that is about to be made on behalf of a person. */
export interface NewEntry {
  readonly path: string;
  readonly isDirectory: boolean;
  /** Its bytes. */
  readonly size: number;
}

/** Why no entry can be made at the path now; undefined if one can. A sentence that says what to do. */
export async function placingRefusal(
  { ignored, folder }: Context,
  { path, isDirectory, size }: NewEntry,
): Promise<{ readonly isFull: boolean; readonly reason: string } | undefined> {
  const refused = (reason: string) => ({ isFull: false, reason });
  if (ignored.ignores(path, isDirectory)) {
    return refused(
      `${path} is kept out by a rule of .lockstepignore: it would reach no other member. Change the rule first.`,
    );
  }
  const { ok, detail = 'The folder cannot be used.', state, room } = await folder.health();
  if (!ok || room === undefined) return refused(detail);
  if (state !== undefined) return refused(state);
  const needed = freeBytesMin + size;
  return room.freeBytes >= needed ? undefined : { isFull: true, reason: noRoom(path, room.freeBytes, needed) };
}

/** The sentence for a disk with too little room for an entry. */
function noRoom(path: string, freeBytes: number, needed: number): string {
  return (
    `The disk of the folder has ${formatBytes(freeBytes)} left, and ${formatBytes(needed - freeBytes)} more are needed to put ${path} there. ` +
    'Free some space first.'
  );
}

/** The actions that make the missing directories above `path`, or a sentence if there cannot be any. */
export async function missingParents({ folder, journal }: Context, path: string): Promise<readonly Action[] | string> {
  const missing: Action[] = [];
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
    const [seen] = await folder.observe([{ path: parent }]);
    if (seen?.state === 'directory') break;
    if (seen?.state === 'problem') return seen.detail;
    if (seen?.state !== 'absent') return `${parent} is no directory now: rename or remove it first.`;
    const known = journal.log
      .rows({ path: parent, beforeRow: Number.MAX_SAFE_INTEGER, limit: modesSearchedMax })
      .find(({ operation }) => isLive(operation) && entryType(operation) === 'directory');
    const mode = known?.operation.mode ?? directoryMode;
    missing.unshift({ do: 'mkdir', path: parent, expected: 'absent', mode });
  }
  return missing;
}

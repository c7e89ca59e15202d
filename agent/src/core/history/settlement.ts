import { isLive, type Operation } from '@lockstep/shared';
import { stampMs } from '../hlc.ts';
import { supersedes } from '../version.ts';

/** A conflict copy that was removed, with the operations around its removal. */
export interface RemovedCopy {
  /** The operation that removed it. */
  readonly removal: Operation;
  /** The operations at its path, newest first. */
  readonly atCopy: readonly Operation[];
  /** The path that it was a copy of, and the operations there, newest first. */
  readonly path: string;
  readonly atPath: readonly Operation[];
  /** The operation that gave the copy another name, if that is how it was removed. */
  readonly renamed: Operation | undefined;
}

/** How a conflict was settled, and what its undoing needs. */
export interface Settlement {
  /** The entry at the path stayed, the copy replaced it, the copy got another name, or another content replaced both. */
  readonly how: 'original' | 'copy' | 'both' | 'merged';
  /** The last version of the copy. */
  readonly lost: Operation;
  /** The operation that changed the path (`copy`, `merged`) or made the new name of the copy (`both`). */
  readonly by: Operation | undefined;
  /** The version at the path before; undefined if nothing was there, or if the path did not change. */
  readonly before: Operation | undefined;
}

/**
 * The longest time between a new content at the path and the removal of the copy by the same member that count as one settlement. The agent
 * does both at once, but a slow disk may hold it up in between: then nothing else was journaled between the two, unless the member is busy.
 */
const togetherMs = 2_000;
const nextToEachOtherMs = 60_000;

/** How a conflict was settled; undefined if the journal does not have the last version of the copy. */
export function settlementOf({ removal, atCopy, path, atPath, renamed }: RemovedCopy): Settlement | undefined {
  const lost = atCopy.find((each) => isLive(each) && supersedes(removal, each));
  if (lost === undefined) return undefined;
  if (renamed !== undefined && renamed.path !== path) return { how: 'both', lost, by: renamed, before: undefined };
  const versionBefore = (by: Operation): Operation | undefined => {
    const last = atPath.find((each) => supersedes(by, each));
    return last !== undefined && isLive(last) ? last : undefined;
  };
  if (renamed !== undefined) return { how: 'copy', lost, by: renamed, before: versionBefore(renamed) };
  const merged = atPath.find((each) => each.hlc > lost.hlc && isTogether(each, removal));
  const before = merged && versionBefore(merged);
  if (before === undefined) return { how: 'original', lost, by: undefined, before };
  return { how: 'merged', lost, by: merged, before };
}

/** True if the member that removed the copy wrote a new content at the path with it. */
function isTogether({ kind, keeps, ...written }: Operation, removal: Operation): boolean {
  const isContent = (kind === 'put' || kind === 'symlink') && keeps === undefined;
  const ms = stampMs(removal.hlc) - stampMs(written.hlc);
  const maxMs = written.seq === removal.seq - 1 ? nextToEachOtherMs : togetherMs;
  return isContent && written.origin === removal.origin && written.seq < removal.seq && ms <= maxMs;
}

import type { ContentId, Operation } from '@lockstep/shared';
import { entryType, isLive } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isSameTime, permissions } from './entry.ts';
import { stampMs } from './hlc.ts';

/** The entry at a path after the machine booted again. */
export type Left =
  | { readonly state: 'absent' }
  | { readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | {
      readonly state: 'symlink';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly target: string;
    }
  | {
      readonly state: 'file';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly content: ContentId;
      /** Its last bytes are zeros, which no sync had to write. */
      readonly endsInZeros: boolean;
    };

/** The effect of a power cut on an entry whose last change was not durable. */
export type Verdict =
  /** The disk shows what the row says. */
  | { readonly is: 'whole'; readonly fingerprint: Fingerprint | undefined }
  /** A user changed it since, and it is unknown what they saw: a local change that supersedes nothing. */
  | { readonly is: 'edited' }
  /** The change was undone: the disk shows this older operation. `isWhole`: a file has its mode and time too. */
  | {
      readonly is: 'undone';
      readonly shown: Operation;
      readonly fingerprint: Fingerprint;
      readonly isWhole: boolean;
    }
  /** It is gone, and no user removed it. */
  | { readonly is: 'gone' }
  /**
   * Another entry is there. `content`: the bytes are right, mode or time are not. `isSomebodys`: a user may have written the bytes, and no
   * operation at the path has them.
   */
  | {
      readonly is: 'damaged';
      readonly fingerprint: Fingerprint;
      readonly content?: ContentId | undefined;
      readonly isSomebodys: boolean;
    };

/**
 * Compares the entry at a path after a power cut with a row that was `unsynced`. An entry that a power cut can leave never counts as an
 * edit. Such an entry is missing, empty, shorter or older than the row, or ends in zeros. `shown` is the operation of the row; `earlier`
 * are those of the path that this journal knows, the newest first. `isKnown`: an operation at the path has the content of the entry.
 * `isTouched`: the entry was changed since the boot, which no power cut does.
 */
export function judgeAfterPowerCut(input: {
  readonly row: DiskEntry;
  readonly shown: Operation;
  readonly left: Left;
  readonly earlier: readonly Operation[];
  readonly isKnown: boolean;
  readonly isTouched?: boolean;
}): Verdict {
  const { row, shown, left, earlier, isKnown, isTouched = false } = input;
  const before = row.fingerprint;
  if (left.state === 'absent') return before === undefined ? { is: 'whole', fingerprint: undefined } : { is: 'gone' };
  const { fingerprint } = left;
  if (before !== undefined) {
    const likeness = compare(left, shown);
    if (likeness === 'same') return { is: 'whole', fingerprint };
    if (likeness === 'content') {
      // Mode or time alone: a later change of them moves the change time.
      return fingerprint.ctimeMs > before.ctimeMs
        ? { is: 'edited' }
        : { is: 'damaged', fingerprint, content: shown.content, isSomebodys: false };
    }
  }
  const alike = earlier.filter((operation) => isLive(operation) && compare(left, operation) !== 'no');
  const sinceMs = before?.mtimeMs ?? stampMs(shown.hlc);
  const isLater = fingerprint.mtimeMs > sinceMs && !isSameTime(fingerprint.mtimeMs * 1_000, sinceMs * 1_000);
  const isNewer = isLater || isTouched;
  // A newer time means that a user wrote it once more. A user may want to keep a touched entry, for example one that they moved away and
  // back.
  const whole = alike.find((operation) => compare(left, operation) === 'same');
  const older = whole ?? (isNewer ? undefined : alike[0]);
  if (older !== undefined && !isTouched) {
    return { is: 'undone', shown: older, fingerprint, isWhole: whole !== undefined || left.state !== 'file' };
  }
  if (left.state === 'directory') return { is: 'edited' };
  if (left.state === 'symlink') return isNewer ? { is: 'edited' } : { is: 'damaged', fingerprint, isSomebodys: true };
  const isCut = fingerprint.size === 0 || left.endsInZeros;
  if (isNewer && !isCut && fingerprint.size >= (before?.size ?? 0)) return { is: 'edited' };
  return { is: 'damaged', fingerprint, isSomebodys: !isCut && (isNewer || !isKnown) };
}

function compare(left: Exclude<Left, { state: 'absent' }>, operation: Operation): 'no' | 'content' | 'same' {
  if (entryType(operation) !== left.state) return 'no';
  if (left.state === 'symlink') return left.target === operation.target ? 'same' : 'no';
  if (left.state === 'file' && left.content !== operation.content) return 'no';
  const sameTime = left.state === 'directory' || isSameTime(left.mtimeUs, operation.mtimeUs ?? 0);
  return sameTime && permissions(left.fingerprint.mode) === operation.mode ? 'same' : 'content';
}

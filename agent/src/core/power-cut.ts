import type { ContentId, Operation } from '@lockstep/shared';
import { entryType, isLive } from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isSameTime, permissions } from './entry.ts';
import { stampMs } from './hlc.ts';

/** What is at a path when the machine has begun again. */
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
      /** The last bytes of it are zeros, which no sync had to write. */
      readonly endsInZeros: boolean;
    };

/** What a power cut made of an entry whose last change was not durable. */
export type Verdict =
  /** The disk shows what the row says. */
  | { readonly is: 'whole'; readonly fingerprint: Fingerprint | undefined }
  /** A user changed it since, with who knows what before their eyes: a local change that supersedes nothing. */
  | { readonly is: 'edited' }
  /** The change was undone: the disk shows this older operation. */
  | { readonly is: 'undone'; readonly shown: Operation; readonly fingerprint: Fingerprint }
  /** It is gone, and no user removed it. */
  | { readonly is: 'gone' }
  /**
   * Something else is there. `content`: the bytes are right, mode or time are not. `isSomebodys`: bytes that a user may have written and
   * that no operation at the path has.
   */
  | {
      readonly is: 'damaged';
      readonly fingerprint: Fingerprint;
      readonly content?: ContentId | undefined;
      readonly isSomebodys: boolean;
    };

/**
 * Compares what is at a path after a power cut with a row that was `unsynced`. Nothing of it is taken for an edit that a power cut can
 * leave: an entry that is missing, empty, shorter or older than the row, or that ends in zeros. `shown` is the operation of the row;
 * `earlier` are those of the path that this journal knows, the newest first. `isKnown`: an operation at the path
 * has the content that is there. `isTouched`: it was changed since the machine began again, which no power cut does.
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
  // Under a newer time somebody wrote it once more; what was touched, as by moving it away and back, somebody may want to keep.
  const older = alike.find((operation) => compare(left, operation) === 'same') ?? (isNewer ? undefined : alike[0]);
  if (older !== undefined && !isTouched) return { is: 'undone', shown: older, fingerprint };
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

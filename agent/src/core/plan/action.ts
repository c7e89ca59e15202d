import type { ContentId } from '@lockstep/shared';
import type { Fingerprint } from '../entry.ts';

/** The source of the bytes of a file to be written. */
export type ContentSource =
  | { readonly from: 'bytes'; readonly bytes: Uint8Array }
  /** Completely staged by `stageBlock`. */
  | { readonly from: 'staged' }
  /** A finished draft (`Folder.draft`) with this name, which the write takes. */
  | { readonly from: 'draft'; readonly name: string }
  | { readonly from: 'history' }
  /** Another file of the folder that held the content when it had this fingerprint. */
  | { readonly from: 'file'; readonly path: string; readonly fingerprint: Fingerprint };

/** The source of an empty file, which needs nothing from anywhere. */
export const noBytes: ContentSource = { from: 'bytes', bytes: new Uint8Array(0) };

/** The entry that must be at the target when the action is executed; otherwise the action is not done (`changed`). */
export type Expected = Fingerprint | 'absent';

/** One step of making the disk show the journal. Steps of one batch: all are staged first, then committed in order. */
export type Action =
  | {
      readonly do: 'write';
      readonly path: string;
      readonly expected: Expected;
      readonly content: ContentId;
      /** Block hashes when there is more than one block. */
      readonly blocks?: Uint8Array | undefined;
      readonly size: number;
      readonly mode: number;
      readonly mtimeUs: number;
      readonly source: ContentSource;
    }
  /** One rename(2). `to` must be absent, or match `expected` and be replaced. Mode and mtime are set afterwards if given. */
  | {
      readonly do: 'rename';
      readonly from: string;
      readonly to: string;
      readonly expectedFrom: Fingerprint;
      readonly expected: Expected;
      readonly mode?: number | undefined;
      readonly mtimeUs?: number | undefined;
      /** As in `attr`. */
      readonly content?: ContentId | undefined;
    }
  /**
   * One rename(2) of a directory and all in it. `names` are the paths below it (relative to it) as the journal knows them;
   * anything else in it: `changed`. `to` must be absent.
   */
  | {
      readonly do: 'rename-directory';
      readonly from: string;
      readonly to: string;
      readonly expectedFrom: Fingerprint;
      readonly names: readonly string[];
      readonly mode: number;
    }
  | { readonly do: 'mkdir'; readonly path: string; readonly expected: Expected; readonly mode: number }
  | {
      readonly do: 'symlink';
      readonly path: string;
      readonly expected: Expected;
      readonly target: string;
      readonly mtimeUs: number;
    }
  | {
      readonly do: 'attr';
      readonly path: string;
      readonly expected: Fingerprint;
      readonly mode: number;
      /** Files only. */
      readonly mtimeUs?: number | undefined;
      /** The content that the file must have for its time to be set; otherwise the result is `source-gone`. Undefined: it is not read. */
      readonly content?: ContentId | undefined;
    }
  | {
      readonly do: 'unlink';
      readonly path: string;
      readonly expected: Fingerprint;
      readonly content?: ContentId | undefined;
    }
  /**
   * Only when empty; entries that are ignored or unknown keep it: `changed`. `isReplaced`: a remote file takes its name, and a special file
   * or mount point that keeps it is a problem.
   */
  | { readonly do: 'rmdir'; readonly path: string; readonly isReplaced?: true };

/**
 * An action. `keep`: the content of a file that it replaces or removes, if known; the old version is kept in `history/` under that name.
 */
export interface ActionRequest {
  readonly action: Action;
  readonly keep?: ContentId | undefined;
}

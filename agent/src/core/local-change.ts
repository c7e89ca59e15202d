import type { ContentId, MemberRecord, Operation, OperationKind } from '@lockstep/shared';
import { entryType, isLive } from '@lockstep/shared';
import type { DiskEntry, Fingerprint } from './disk-entry.ts';
import { isDirectoryMode, permissions } from './plan-step.ts';
import { supersedes } from './version.ts';

/** A local change on its way to becoming an operation. */
export interface Draft {
  readonly path: string;
  readonly kind: OperationKind;
  readonly content?: ContentId | undefined;
  readonly replaced?: ContentId | undefined;
  readonly size?: number | undefined;
  readonly mode?: number | undefined;
  readonly mtimeUs?: number | undefined;
  readonly target?: string | undefined;
  readonly from?: string | undefined;
  readonly blocks?: Uint8Array | undefined;
  /** The first path of the rename or unpacked tree it belongs to. */
  readonly groupPath?: string | undefined;
  readonly span?: number | undefined;
  readonly member?: MemberRecord | undefined;
  /** What the user had before their eyes: what the new operation replaces (DESIGN 3, rule 2). */
  readonly parents: readonly Operation[];
  readonly fingerprint?: Fingerprint | undefined;
  readonly racy?: boolean | undefined;
  /** This disk shows the delete already. */
  readonly vanished?: boolean | undefined;
  readonly bytes?: Uint8Array | undefined;
}

/** What a look found that has something to journal about it. */
export type Seen =
  | { readonly state: 'absent' }
  | {
      readonly state: 'file';
      readonly fingerprint: Fingerprint;
      readonly racy: boolean;
      readonly content: ContentId;
      readonly blocks?: Uint8Array | undefined;
      readonly bytes?: Uint8Array | undefined;
    }
  | { readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | { readonly state: 'symlink'; readonly fingerprint: Fingerprint; readonly target: string };

export type Finding =
  | { readonly do: 'nothing' }
  /** The entry is what the row says; only its fingerprint moved. */
  | { readonly do: 'refresh'; readonly fingerprint: Fingerprint; readonly racy: boolean }
  /** The disk already shows the visible head: no operation is needed, only the row. */
  | {
      readonly do: 'adopt';
      readonly head: Operation;
      readonly fingerprint: Fingerprint | undefined;
      readonly racy: boolean;
    }
  /** The row passed over a live entry that nothing stands in the way of any more: without the row it is pending again. */
  | { readonly do: 'forget' }
  /** As `adopt`, but mode or time must first be set to the head's. */
  | { readonly do: 'adopt-attributes'; readonly head: Operation; readonly fingerprint: Fingerprint }
  | { readonly do: 'draft'; readonly draft: Draft };

/**
 * Compares what stands at a path with the row of `disk` (never with the heads: rule 1), and makes a draft of the difference.
 * `shown` is the operation that the row says the disk shows. `head` is the visible head, which only serves to notice that
 * the disk has come to show it by other means: the same file copied onto two members, a journal that was lost.
 */
export function findLocalChange(input: {
  readonly path: string;
  readonly seen: Seen;
  readonly row: DiskEntry | undefined;
  readonly shown: Operation | undefined;
  readonly head: Operation | undefined;
}): Finding {
  const { seen, row, head } = input;
  const present = row?.fingerprint !== undefined;
  // A row without a fingerprint speaks of a live entry only where that is ignored or could not be shown: nobody saw it here.
  const shown = present || (input.shown && !isLive(input.shown)) ? input.shown : undefined;
  const parents = shown ? [shown] : [];
  const replaced = present ? row.content : undefined;
  if (seen.state === 'absent') {
    if (!present) return input.shown && isLive(input.shown) ? { do: 'forget' } : { do: 'nothing' };
    if (head && !isLive(head)) return { do: 'adopt', head, fingerprint: undefined, racy: false };
    return { do: 'draft', draft: { path: input.path, kind: 'delete', parents, replaced, vanished: true } };
  }
  const { fingerprint } = seen;
  const racy = seen.state === 'file' && seen.racy;
  const mode = permissions(fingerprint.mode);
  const mtimeUs = seen.state === 'directory' ? undefined : Math.floor(fingerprint.mtimeMs * 1000);
  const matches = (operation: Operation): 'no' | 'content' | 'all' => {
    if (entryType(operation) !== seen.state) return 'no';
    if (seen.state === 'symlink') return operation.target === seen.target ? 'all' : 'no';
    if (seen.state === 'file' && operation.content !== seen.content) return 'no';
    const sameTime = mtimeUs === undefined || Math.abs(fingerprint.mtimeMs * 1000 - (operation.mtimeUs ?? 0)) < 2;
    return operation.mode === mode && sameTime ? 'all' : 'content';
  };
  const matchesShown = shown ? matches(shown) : 'no';
  if (matchesShown === 'all' && present) {
    const moved = seen.state !== 'directory' || row.fingerprint?.ino !== fingerprint.ino;
    return moved ? { do: 'refresh', fingerprint, racy } : { do: 'nothing' };
  }
  const matchesHead = head && head !== shown ? matches(head) : 'no';
  // A head that was made without knowing of what the user replaced here does not say that it is gone: an operation must.
  if (head && (shown === undefined || supersedes(head, shown))) {
    if (matchesHead === 'all') return { do: 'adopt', head, fingerprint, racy };
    if (matchesHead === 'content' && matchesShown === 'no') return { do: 'adopt-attributes', head, fingerprint };
  }
  const replacedHere = head && matchesHead === 'all' ? [...parents, head] : parents;
  const base = { path: input.path, parents: replacedHere, fingerprint, racy, mode, mtimeUs, replaced };
  if (seen.state === 'directory') {
    return { do: 'draft', draft: { ...base, kind: matchesShown === 'content' ? 'attr' : 'mkdir' } };
  }
  if (seen.state === 'symlink') {
    return { do: 'draft', draft: { ...base, kind: 'symlink', mode: undefined, target: seen.target } };
  }
  const { content, blocks, bytes } = seen;
  const kind = matchesShown === 'content' ? 'attr' : 'put';
  const size = fingerprint.size;
  return { do: 'draft', draft: { ...base, kind, content, size, blocks, bytes: kind === 'put' ? bytes : undefined } };
}

/**
 * A file that stands at a new path is the one that stood at `old`, when inode, size and modification time are the same and the
 * old path no longer has that inode. Then its content needs no reading.
 */
export function isSameFile(old: DiskEntry, fingerprint: Fingerprint): boolean {
  const before = old.fingerprint;
  return (
    before !== undefined &&
    !old.racy &&
    before.ino === fingerprint.ino &&
    before.size === fingerprint.size &&
    before.mtimeMs === fingerprint.mtimeMs &&
    isDirectoryMode(before.mode) === isDirectoryMode(fingerprint.mode)
  );
}

import type { ContentId, Operation } from '@lockstep/shared';
import type { DiskEntry } from './entry.ts';
import { findLocalChange, type LocalChange, type Seen } from './local-change.ts';
import { fingerprint, type Shape } from './plan/_fixtures.ts';

/** The result of a check of a path where `shape` is; `absent` without a shape. */
export function seen(shape: Shape | undefined, ino = 1): Seen {
  if (shape === undefined) return { state: 'absent' };
  const left = fingerprint(shape, ino);
  if (shape.kind === 'mkdir') return { state: 'directory', fingerprint: left };
  const mtimeUs = shape.mtimeUs ?? 0;
  if (shape.kind === 'symlink') return { state: 'symlink', fingerprint: left, mtimeUs, target: shape.target ?? '' };
  return { state: 'file', fingerprint: left, mtimeUs, racy: shape.racy ?? false, content: shape.content as ContentId };
}

/** The row of a disk that shows the operation `shown` as the entry `shape`; without a shape, a row without an entry. */
export function rowOf(shown: Operation, shape: Shape | undefined, ino = 1): DiskEntry {
  const { path, origin, seq, content } = shown;
  const there = shape === undefined ? {} : { content, fingerprint: fingerprint(shape, ino), racy: false };
  return { path, dot: { origin, seq }, ...there };
}

/** The same row after a power cut or a failing disk left `shape` at the path. */
export function damagedRowOf(shown: Operation, shape: Shape | undefined, ino = 1): DiskEntry {
  return { ...rowOf(shown, shape, ino), content: undefined, damaged: true };
}

/** The local change at `p`. */
export function find(input: {
  readonly seen: Seen;
  readonly row?: DiskEntry | undefined;
  readonly shown?: Operation | undefined;
  readonly head?: Operation | undefined;
  readonly journaled?: readonly Operation[];
  readonly isKept?: boolean;
  readonly isInterrupted?: boolean;
  readonly mayHaveRemoved?: boolean;
  readonly ownDelete?: Operation;
}): LocalChange {
  const { row, shown, head, journaled = [], ...rest } = input;
  return findLocalChange({ path: 'p', row, shown, head, ...rest, journaled: () => journaled });
}

/** A change in a few words. For a draft: its kind, its parents by origin and number, and the content that it replaces. */
export function words(change: LocalChange): string {
  if (change.do === 'adopt' || change.do === 'adopt-attributes') {
    return `${change.do} ${change.head.origin}${change.head.seq}`;
  }
  if (change.do !== 'draft') return change.do;
  const { kind, parents, replaced } = change.draft;
  const after = parents.map(({ origin, seq }) => `${origin}${seq}`).join('+');
  return `${kind}${after && ` after ${after}`}${replaced === undefined ? '' : ` for ${replaced}`}`;
}

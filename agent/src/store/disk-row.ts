import type { ContentId } from '@lockstep/shared';
import type { DiskEntry, Fingerprint } from '../core/entry.ts';
import type { Shown } from './heads/head-row.ts';
import type { OriginTable } from './operations/origin-table.ts';

/** A row of the table `disk`. */
export interface DiskRow {
  readonly path: string;
  readonly origin: number;
  readonly seq: number;
  readonly content: ContentId | null;
  readonly ino: number | null;
  readonly size: number;
  readonly mtime_ms: number;
  readonly ctime_ms: number;
  readonly mode: number;
  readonly birth_ms: number | null;
  readonly racy: number | null;
  readonly unsynced: number | null;
  readonly unconfirmed: number | null;
  /** The content that was found there instead, or 1 if that was not read. */
  readonly damaged: number | string | null;
  readonly cut: number | null;
  readonly remote: number | null;
}

/** The columns of a `DiskRow`. */
export const diskColumns =
  'path, origin, seq, content, ino, size, mtime_ms, ctime_ms, mode, birth_ms, racy, unsynced, unconfirmed, damaged, cut, remote';

/** The entry that a row describes. */
export function fromDiskRow(row: DiskRow, origins: OriginTable): DiskEntry {
  const { path, seq, content, ino } = row;
  return {
    path,
    dot: { origin: origins.name(row.origin), seq },
    ...(content !== null && { content }),
    ...(ino !== null && { fingerprint: fingerprintOf(row, ino) }),
    ...(row.racy !== null && { racy: row.racy !== 0 }),
    ...(row.unsynced !== null && { unsynced: true }),
    ...(row.unconfirmed !== null && { unconfirmed: row.unconfirmed > 0 ? 'dirty' : 'clean' }),
    ...(row.damaged !== null && { damaged: true }),
    ...(typeof row.damaged === 'string' && { found: row.damaged as ContentId }),
    ...(row.cut !== null && { cut: true }),
    ...(row.remote !== null && { remote: true }),
  };
}

/** The part of an entry that the heads need. */
export function shownOf(entry: Omit<DiskEntry, 'path'>, origin: number, content_key: number | null): Shown {
  const { dot, fingerprint, damaged, remote } = entry;
  return {
    origin,
    seq: dot.seq,
    present: Number(fingerprint !== undefined || remote === true),
    damaged: Number(damaged === true),
    content_key,
    mode: fingerprint?.mode ?? null,
    size: fingerprint?.size ?? null,
  };
}

/** The entry as it would be read from its row. */
export function asStored(path: string, entry: Omit<DiskEntry, 'path'>): DiskEntry {
  const { dot, content, fingerprint, racy, unsynced, unconfirmed, damaged, found, cut, remote } = entry;
  return {
    path,
    dot: { origin: dot.origin, seq: dot.seq },
    ...(content !== undefined && { content }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(racy !== undefined && { racy }),
    ...(unsynced && { unsynced }),
    ...(unconfirmed !== undefined && { unconfirmed }),
    ...(damaged && { damaged }),
    ...(damaged && found !== undefined && { found }),
    ...(damaged && cut && { cut }),
    ...(remote && { remote }),
  };
}

function fingerprintOf(row: DiskRow, ino: number): Fingerprint {
  const { size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, mode, birth_ms: birthMs } = row;
  return { ino, size, mtimeMs, ctimeMs, mode, ...(birthMs !== null && { birthMs }) };
}

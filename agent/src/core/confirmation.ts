import { fileTimeStepMsMax, unconfirmedAgeMsMax } from '@lockstep/shared';
import { type Fingerprint, isSameFingerprint, type Unconfirmed } from './entry.ts';

const typeBits = 0o170000;
const fileBits = 0o100000;

/**
 * `dirty` if the content of a file that was just read may change while its fingerprint stays; undefined if it cannot. Linux updates a
 * file's times at the first store into a clean page of a mapping. Further stores change no time until that page was written back. So stores
 * into the pages of a file that changed lately may leave no trace. `wallMs`: when it was read, by the clock of the file times.
 */
export function unconfirmedAt({ mode, ctimeMs }: Fingerprint, wallMs: number): Unconfirmed | undefined {
  if ((mode & typeBits) !== fileBits) return undefined;
  return wallMs - ctimeMs < unconfirmedAgeMsMax ? 'dirty' : undefined;
}

/** As `unconfirmedAt`, for a file that has a row: while the fingerprint is the same, the row's mark holds. */
export function unconfirmedAfter(
  row: { readonly fingerprint?: Fingerprint | undefined; readonly unconfirmed?: Unconfirmed | undefined },
  fingerprint: Fingerprint,
  wallMs: number,
): Unconfirmed | undefined {
  const isSame = row.fingerprint !== undefined && isSameFingerprint(row.fingerprint, fingerprint);
  return isSame ? row.unconfirmed : unconfirmedAt(fingerprint, wallMs);
}

/** The begin and end of a sync, by the clock of the file times. */
export interface SyncSpan {
  readonly beganMs: number;
  readonly endedMs: number;
}

/**
 * The change times of the files whose pages a sync has made clean for good: those up to `upToMs`, and those above `aboveMs`. A file that was
 * changed during the sync may have dirty pages again. So may one whose change was so recent that a later store has the same time. A change
 * time beyond the end was given before the clock was set back; no store gets it now.
 */
export function cleanedBy({ beganMs, endedMs }: SyncSpan): { readonly upToMs: number; readonly aboveMs: number } {
  return { upToMs: beganMs - fileTimeStepMsMax, aboveMs: endedMs };
}

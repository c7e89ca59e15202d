/**
 * The argument for `futimes` and `lutimes`, which truncate seconds to whole microseconds, towards zero. Half a microsecond is added so that
 * truncation never yields the microsecond before. A string, because Node replaces a negative number by the present time.
 */
export function secondsOf(mtimeUs: number): string {
  return String((mtimeUs + (mtimeUs < 0 ? -0.5 : 0.5)) / 1e6);
}

const permissionBits = 0o7777;

/** The mode bits that chmod(2) sets. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

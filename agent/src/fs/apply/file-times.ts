/**
 * The argument for `futimes` and `lutimes`. Before Node 24 they truncate seconds to whole microseconds, towards zero, so half a microsecond is
 * added to a fraction: truncation then never yields the microsecond before. Later ones keep the half. A string, because Node replaces a
 * negative number by the present time.
 */
export function secondsOf(mtimeUs: number): string {
  if (mtimeUs % 1e6 === 0) return String(mtimeUs / 1e6);
  return String((mtimeUs + (mtimeUs < 0 ? -0.5 : 0.5)) / 1e6);
}

const permissionBits = 0o7777;

/** The mode bits that chmod(2) sets. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

/** From 1.52 on, libuv passes on nanoseconds. Before, it truncates a time to whole microseconds, towards zero. */
const keepsNanoseconds = isFrom(1, 52);

function isFrom(major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = process.versions.uv.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/**
 * The argument for `futimes` and `lutimes`. A fraction gets half a microsecond more, away from zero where it is truncated: rounding down, as
 * `mtimeUsOf` does it, then never yields the microsecond before. A string, because Node replaces a negative number by the present time.
 */
export function secondsOf(mtimeUs: number): string {
  if (mtimeUs % 1e6 === 0) return String(mtimeUs / 1e6);
  return String((mtimeUs + (mtimeUs < 0 && !keepsNanoseconds ? -0.5 : 0.5)) / 1e6);
}

const permissionBits = 0o7777;

/** The mode bits that chmod(2) sets. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

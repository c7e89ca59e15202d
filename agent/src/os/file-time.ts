/** From 1.52 on, libuv passes on nanoseconds. Before, it truncates a time to whole microseconds, towards zero. */
const keepsNanoseconds = isFrom(1, 52);

function isFrom(major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = process.versions.uv.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/**
 * A time in microseconds as the argument for `futimes` and `lutimes`, which want seconds. A fraction gets half a microsecond more, away from
 * zero where it is truncated: rounded down, it is then never the microsecond before. A string, because Node replaces a negative number by
 * the present time.
 */
export function secondsOf(timeUs: number): string {
  if (timeUs % 1e6 === 0) return String(timeUs / 1e6);
  return String((timeUs + (timeUs < 0 && !keepsNanoseconds ? -0.5 : 0.5)) / 1e6);
}

/**
 * The time to hand to `futimes` and `lutimes`, which cut a number of seconds down to whole microseconds: with half a
 * microsecond added, what is cut off never takes the one meant along.
 */
export function secondsOf(mtimeUs: number): number {
  return (mtimeUs + 0.5) / 1e6;
}

const permissionBits = 0o7777;

/** What chmod(2) takes of a mode. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

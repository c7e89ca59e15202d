const permissionBits = 0o7777;

/** The mode bits that chmod(2) sets. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

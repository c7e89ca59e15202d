const permissionBits = 0o7777;

/** The mode bits that chmod(2) sets. */
export function permissionsOf(mode: number): number {
  return mode & permissionBits;
}

/** `mode` with the permission bits of another one. */
export function withPermissions(mode: number, other: number): number {
  return (mode & ~permissionBits) | permissionsOf(other);
}

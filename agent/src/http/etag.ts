/** The entity tag of a version (`origin:seq`). */
export function etagOf(version: string): string {
  return `"${version}"`;
}

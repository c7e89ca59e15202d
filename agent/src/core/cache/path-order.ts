/**
 * True if `path` comes before `other`, or is the same, in the order of their UTF-8 bytes, in which the journal lists paths. JavaScript
 * compares UTF-16, where the characters beyond U+FFFF come before some others.
 */
export function isAtOrBefore(path: string, other: string): boolean {
  const end = Math.min(path.length, other.length);
  for (let at = 0; at < end; at++) {
    const [a, b] = [path.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rank(a) < rank(b);
  }
  return path.length <= other.length;
}

/** Surrogates, which stand for characters beyond U+FFFF, after all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x2800 : unit;
}

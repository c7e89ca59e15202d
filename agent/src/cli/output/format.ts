/** A moment as `2026-11-21 07:12:03` in UTC. */
export function formatMoment(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

const special = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * A path or name from another source, safe to print: control characters, which could move the cursor or forge another line, are written as
 * escapes.
 */
export function printable(text: string): string {
  return text.replaceAll(special, (character) => {
    // The joiner is part of emoji and of words in some scripts, and is harmless.
    if (character === '\u200d') return character;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The first characters of a member id: enough to distinguish the members of one cluster. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

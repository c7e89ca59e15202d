/** A moment as `2026-11-21 07:12:03` in UTC. */
export function formatMoment(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

const special = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * A path or name that somebody chose, safe to print: control characters, which could move the cursor or forge another line,
 * are written as escapes.
 */
export function printable(text: string): string {
  return text.replaceAll(special, (character) => {
    // The joiner builds emoji and words of some scripts and moves nothing.
    if (character === '\u200d') return character;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The first characters of a member id: enough to tell the members of one cluster apart. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

const sizeUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Bytes for people: `512 B`, `1.2 GB`, in steps of 1000. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 999.95 would be shown as 1000.0: it belongs to the next unit.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < sizeUnits.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${sizeUnits[unit]}`;
}

/** A whole number with separators: `1,204`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1 file`, `1,204 files`; `plural` where an added s is not enough. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : many}`;
}

const spans = [
  { noun: 'day', ms: 86_400_000 },
  { noun: 'hour', ms: 3_600_000 },
  { noun: 'minute', ms: 60_000 },
  { noun: 'second', ms: 1_000 },
] as const;

/** A moment seen from `nowMs`: `now`, `3 minutes ago`, `in 2 hours`. */
export function formatAgo(atMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - atMs);
  const span = spans.find(({ ms }) => distance >= ms);
  if (span === undefined) return 'now';
  const words = plural(Math.floor(distance / span.ms), span.noun);
  return atMs <= nowMs ? `${words} ago` : `in ${words}`;
}

/** How long something took: `12 ms`, `0.9 s`, `4 min 10 s`, `2 h 5 min`. */
export function formatElapsed(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A round trip: `0.4 ms`, `12 ms`; a dash when none was measured. */
export function formatRoundTrip(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '-';
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

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

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** 1204 → `1,204`. */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** A count and its noun: `1 file`, `1,204 files`; `many` is the plural if an added s is not enough. */
export function formatItems(count: number, noun: string, many = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : many}`;
}

/** Decimal units, as disks are sold: `4.8 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  // 999,950 would be rounded to 1,000 of its unit.
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? whole.format(value) : tenth.format(value)} ${units[unit]}`;
}

/** A round trip: `0.4 ms`, `23 ms`, `1.2 s`. */
export function formatRoundTrip(ms: number): string {
  if (ms >= 1000) return `${tenth.format(ms / 1000)} s`;
  return `${ms < 10 ? tenth.format(ms) : whole.format(ms)} ms`;
}

/** A length of time in its largest unit: `42 s`, `3 min`, `2 h`, `5 days`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${whole.format(Math.round(seconds))} s`;
  if (seconds < 3_600) return `${whole.format(Math.floor(seconds / 60))} min`;
  if (seconds < 86_400) return `${whole.format(Math.floor(seconds / 3_600))} h`;
  return formatItems(Math.floor(seconds / 86_400), 'day');
}

/** An elapsed time: `12 ms`, `1.2 s`, `4 min 10 s`, `2 h 5 min`, `3 days`. */
export function formatElapsed(ms: number): string {
  if (ms < 999.5) return `${whole.format(ms)} ms`;
  if (ms < 59_950) return `${tenth.format(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 1_440 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : formatDuration(seconds);
}

/** The clocks of two machines are never quite equal: a moment ahead by less counts as now. */
const aheadMs = 60_000;

/** A moment seen from `nowMs`: `just now`, `3 min ago`, `in 2 h`. */
export function formatAgo(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (ms >= 1_000) return `${formatDuration(ms / 1_000)} ago`;
  return ms > -aheadMs ? 'just now' : `in ${formatDuration(-ms / 1_000)}`;
}

/** `ant`, `ant and bee`, `ant, bee and cat`, or with another last conjunction. */
export function formatNames(names: readonly string[], conjunction = 'and'): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`;
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** 1204 → `1,204`. */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** A count and its noun: `1 file`, `1,204 files`. */
export function formatItems(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
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

/** `ant`, `ant and bee`, `ant, bee and cat`. */
export function formatNames(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const durationUnits = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const sizeUnits = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;

/** Other names of the units of sizes. */
const sizeAliases: Readonly<Record<string, string>> = { K: 'KiB', M: 'MiB', G: 'GiB', T: 'TiB' };

const pattern = /^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$/;

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) return undefined;
  const unit = Object.hasOwn(units, match[2] ?? '') ? units[match[2] ?? ''] : undefined;
  if (unit === undefined) return undefined;
  const value = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(value) ? value : undefined;
}

function format(value: number, units: Readonly<Record<string, number>>, gap: string): string {
  const [name, unit] = Object.entries(units).findLast(([, factor]) => value >= factor && value % factor === 0) ?? [];
  return name === undefined || unit === undefined ? `0${gap}${Object.keys(units)[0]}` : `${value / unit}${gap}${name}`;
}

/** Parses `250ms`, `30s`, `10m`, `1.5h`, `2d` as milliseconds. Undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  return parse(text, durationUnits);
}

/** The shortest exact form that `parseDuration` reads. */
export function formatDuration(ms: number): string {
  return format(ms, durationUnits, '');
}

/** Parses `512 B`, `16 MiB`, `1.5 GiB`, `20G` as bytes; K, M, G and T are powers of 1024 as well. Undefined for other texts. */
export function parseSize(text: string): number | undefined {
  return parse(
    text.replace(/[KMGT]$/, (unit) => sizeAliases[unit] ?? unit),
    sizeUnits,
  );
}

/** The shortest exact form that `parseSize` reads. */
export function formatSize(bytes: number): string {
  return format(bytes, sizeUnits, ' ');
}

/** Room on a disk: a number of bytes, or a part of the disk from 0 to 1. */
export type DiskRoom = { readonly bytes: number } | { readonly share: number };

const percentPattern = /^([0-9]{1,3}(?:\.[0-9]+)?) ?%$/;

/** Parses `512 MiB` or `10 %`. Undefined for other texts. */
export function parseDiskRoom(text: string): DiskRoom | undefined {
  const bytes = parseSize(text);
  if (bytes !== undefined) return { bytes };
  const percent = Number(percentPattern.exec(text.trim())?.[1] ?? Number.NaN);
  return percent >= 0 && percent <= 100 ? { share: percent / 100 } : undefined;
}

/** The form that `parseDiskRoom` reads. */
export function formatDiskRoom(room: DiskRoom): string {
  return 'bytes' in room ? formatSize(room.bytes) : `${Number((room.share * 100).toFixed(3))} %`;
}

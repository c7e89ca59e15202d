import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The files of a web server and how they are read. The traces are those of "A light-weight, cooperative temporary file system for
 * cluster-based Web servers": sizes with a median of 6 KB and a mean of 22 KB, and reads of which few files get most.
 */
const files = 10_000;
const filesPerDirectory = 100;
const medianBytes = 6_000;
const meanBytes = 22_000;
const bytesMax = 4_000_000;
/** The exponent of Zipf's law. Breslau and others, "Web caching and Zipf-like distributions", INFOCOM 1999, found 0.64 to 0.83. */
const exponent = 0.8;

/** Readers of one server at a time. */
export const readersPerServer = 4;
/** The room of a server: a quarter of the pages. */
export const serverCacheBytes = 60 * 1_048_576;
/** The rate of the origin's disk for all servers together, and the time of a seek. */
export const originDisk = { bytesPerSecond: 3_000_000, delayMs: 5 };
/** The gain from cooperation in the source: 24 to 37 % more reads a second. */
export const cooperationGain = { target: 1.24, goal: 1.37 };

export const filePaths: readonly string[] = Array.from({ length: files }, (_, index) => {
  return join(`pages-${Math.floor(index / filesPerDirectory)}`, `page-${index}.html`);
});

/** Numbers from 0 to 1 that are the same in each run. */
export function* uniforms(seed: string): Generator<number, never> {
  for (let block = 0; ; block++) {
    const digest = createHash('sha256').update(`${seed} ${block}`).digest();
    for (let at = 0; at + 6 <= digest.length; at += 6) yield digest.readUIntBE(at, 6) / 2 ** 48;
  }
}

/** Sizes with the logarithmic normal distribution that has this median and this mean (Box and Muller, 1958). */
function* sizes(): Generator<number, never> {
  const deviation = Math.sqrt(2 * Math.log(meanBytes / medianBytes));
  const random = uniforms('sizes');
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random.next().value));
    const normal = radius * Math.cos(2 * Math.PI * random.next().value);
    yield Math.min(bytesMax, Math.ceil(medianBytes * Math.exp(deviation * normal)));
  }
}

/** The files, each with its size. */
export function pages(): readonly { readonly path: string; readonly bytes: number }[] {
  const size = sizes();
  return filePaths.map((path) => ({ path, bytes: size.next().value }));
}

/** Writes the files below `folder`. Returns their bytes. */
export async function writePages(folder: string): Promise<number> {
  const content = randomBytes(bytesMax);
  let total = 0;
  for (const [index, { path, bytes }] of pages().entries()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // The files differ: equal contents would be fetched once.
    const head = Buffer.from(`page ${index}\n`);
    await writeFile(join(folder, path), Buffer.concat([head, content.subarray(0, bytes)]).subarray(0, bytes));
    total += bytes;
  }
  return total;
}

/** The paths that the readers of one server ask for, in turn. `server` tells the servers apart: all prefer the same files. */
export function* reads(server: string): Generator<string, never> {
  const sums: number[] = [];
  for (let rank = 1; rank <= files; rank++) sums.push((sums.at(-1) ?? 0) + rank ** -exponent);
  const [order, random] = [shuffled('popularity'), uniforms(`reads of ${server}`)];
  const all = sums.at(-1) ?? 1;
  for (;;) {
    const rank = firstAtLeast(sums, random.next().value * all);
    yield filePaths[order[rank] ?? 0] ?? '';
  }
}

/** Popular files are in no order of their names. */
function shuffled(seed: string): number[] {
  const random = uniforms(seed);
  const keys = Array.from({ length: files }, () => random.next().value);
  return keys.map((_, index) => index).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
}

/** The index of the first of ascending `sums` that is at least `value`. */
function firstAtLeast(sums: readonly number[], value: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

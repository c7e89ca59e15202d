import type { Fingerprint } from './entry.ts';

/** Files with their fingerprints except birth times, packed so that it costs little to pass thousands of them to a worker. */
export interface PackedFiles {
  readonly paths: readonly string[];
  /** Of each file in turn: inode number, size, times of modification and change, mode. */
  readonly numbers: Float64Array;
}

const numbersPerFile = 5;

/** A file and its fingerprint. */
export type KnownFile = { readonly path: string } & Omit<Fingerprint, 'birthMs'>;

export function packFiles(files: readonly KnownFile[]): PackedFiles {
  const numbers = new Float64Array(files.length * numbersPerFile);
  let at = 0;
  for (const { ino, size, mtimeMs, ctimeMs, mode } of files) {
    numbers[at++] = ino;
    numbers[at++] = size;
    numbers[at++] = mtimeMs;
    numbers[at++] = ctimeMs;
    numbers[at++] = mode;
  }
  return { paths: files.map(({ path }) => path), numbers };
}

/** The fingerprint of file number `index`. */
export function fingerprintAt({ numbers }: PackedFiles, index: number): Fingerprint {
  // By index: a view of five numbers costs more than all the rest of a comparison.
  const at = index * numbersPerFile;
  return {
    ino: numbers[at] ?? 0,
    size: numbers[at + 1] ?? 0,
    mtimeMs: numbers[at + 2] ?? 0,
    ctimeMs: numbers[at + 3] ?? 0,
    mode: numbers[at + 4] ?? 0,
  };
}

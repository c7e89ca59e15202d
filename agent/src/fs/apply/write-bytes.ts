import type { SystemCalls } from '../system-calls.ts';

/** The length of a run of zeros that becomes a hole: several blocks of any file system. */
const runBytes = 65_536;
const zeros = new Uint8Array(runBytes);

/** Writes all of `bytes` at `position`. */
export function writeFully(system: SystemCalls, fd: number, bytes: Uint8Array, position = 0): void {
  for (let written = 0; written < bytes.length; ) {
    written += system.write(fd, bytes, written, bytes.length - written, position + written);
  }
}

/**
 * Writes a block into a new file, at `position`, without its runs of zeros: there the file has holes, which take no space. If the block ends
 * the file, its last bytes are written all the same: they give the file its size.
 */
export function writeWithHoles(
  system: SystemCalls,
  fd: number,
  bytes: Uint8Array,
  { position, endsFile }: { readonly position: number; readonly endsFile: boolean },
): void {
  let from = 0;
  for (let at = 0; at < bytes.length; at += runBytes) {
    const end = Math.min(at + runBytes, bytes.length);
    if ((endsFile && end === bytes.length) || !isZeros(bytes, at, end)) continue;
    writeFully(system, fd, bytes.subarray(from, at), position + from);
    from = end;
  }
  writeFully(system, fd, bytes.subarray(from), position + from);
}

function isZeros(bytes: Uint8Array, from: number, to: number): boolean {
  return Buffer.compare(bytes.subarray(from, to), zeros.subarray(0, to - from)) === 0;
}

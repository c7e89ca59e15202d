import { fileBytesMax, LockstepError } from '@lockstep/shared';
import type { ByteRange } from './conditions.ts';
import { HttpError } from './errors.ts';

/** The part of a file that a request writes. `total`: the size of the file in the end, if its sender names one. */
export interface WrittenRange extends ByteRange {
  readonly total: number | undefined;
}

/** The part of a file in a Content-Range header: `bytes FIRST-LAST/TOTAL`, or `/*`. Throws `request-invalid`, or `body-too-large` for a file that would be. */
export function writtenRange(header: string | undefined): WrittenRange {
  const [, first, last, total] = /^bytes +(\d+)-(\d+)\/(\d+|\*)$/i.exec(header?.trim() ?? '') ?? [];
  const range = { start: Number(first), end: Number(last) + 1, total: total === '*' ? undefined : Number(total) };
  const { start, end, total: size = end } = range;
  checkFileSize(Math.max(end, size));
  const areNumbers = [start, end, size].every(Number.isSafeInteger);
  if (areNumbers && start < end && end <= size) return range;
  if (areNumbers && start < end) {
    throw new LockstepError(
      'request-invalid',
      `Content-Range names the bytes up to number ${end - 1}, and says that the file then has only ${size}: nothing was changed. After the ` +
        'slash write the size of the whole file, or *.',
    );
  }
  throw new LockstepError(
    'request-invalid',
    'Name the bytes that the body replaces in the header Content-Range: bytes FIRST-LAST/*. The first byte of a file has the number 0, ' +
      'LAST is not before FIRST, and instead of * there may be the size of the file in the end.',
  );
}

/** Throws `body-too-large` for a file that cannot be replicated. */
export function checkFileSize(bytes: number, max = fileBytesMax): void {
  if (bytes <= max || Number.isNaN(bytes)) return;
  const message = `A file has at most ${max} bytes (${max / 1024 ** 3} GiB): nothing was changed. Split it.`;
  throw new HttpError(413, { code: 'body-too-large', message });
}

/** The chunks of a file whose size its sender does not name. Throws as `checkFileSize` as soon as there are too many bytes. */
export async function* sizeChecked(chunks: AsyncIterable<Uint8Array>, max: number): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    checkFileSize(bytes, max);
    yield chunk;
  }
}

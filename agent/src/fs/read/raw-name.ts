import { isUtf8 } from 'node:buffer';
import type { SystemCalls } from '../system-calls.ts';

/** Node puts it for bytes that are not UTF-8; a name may also hold it in earnest. */
export const replacementCharacter = '\ufffd';

const characterBytesMax = 4;

/** The text of a name, or undefined when it is not UTF-8. */
export function decodeName(name: Buffer): string | undefined {
  return isUtf8(name) ? name.toString('utf8') : undefined;
}

/** A name for people: bytes that are no character are shown as `\xff`, so that different names are never shown as one. */
export function showName(name: Buffer): string {
  let shown = '';
  for (let at = 0; at < name.length; ) {
    let end = at + 1;
    while (end - at < characterBytesMax && end < name.length && !isUtf8(name.subarray(at, end))) end++;
    const character = decodeName(name.subarray(at, end));
    shown += character ?? `\\x${name.toString('hex', at, at + 1)}`;
    at = character === undefined ? at + 1 : end;
  }
  return shown;
}

/** What the link at `absolute` points to, or undefined when that is not UTF-8. */
export function readLinkText(system: SystemCalls, absolute: string): string | undefined {
  return decodeName(system.readlink(absolute));
}

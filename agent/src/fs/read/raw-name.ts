import { isUtf8 } from 'node:buffer';
import type { SystemCalls } from '../system-calls.ts';

/** Node replaces bytes that are not UTF-8 by it; a name may also really contain it. */
export const replacementCharacter = '\ufffd';

const characterBytesMax = 4;

/** The text of a name. Undefined if it is not UTF-8. */
export function decodeName(name: Buffer): string | undefined {
  return isUtf8(name) ? name.toString('utf8') : undefined;
}

/** A name for display: invalid bytes are shown as `\xff`, so that two different names never look the same. */
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

/** The target of the link at `absolute`. Undefined if it is not UTF-8. */
export function readLinkText(system: SystemCalls, absolute: string): string | undefined {
  return decodeName(system.readlink(absolute));
}

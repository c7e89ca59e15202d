import { extname } from 'node:path';

/** Larger texts are no help side by side, and a browser takes seconds over them. */
const textBytesMax = 2 * 1_048_576;

/** A picture as cameras make them. */
const pictureBytesMax = 20 * 1_048_576;

/** The pictures that every browser shows. SVG is none of them: it is text that can carry scripts. */
const pictureTypes: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
};

export const textType = 'text/plain; charset=utf-8';
export const unknownType = 'application/octet-stream';

/** How many bytes of a file of this name are given out to be shown. */
export function shownBytesMax(path: string): number {
  return pictureType(path) === undefined ? textBytesMax : pictureBytesMax;
}

/** What a browser may take the bytes for: a picture by its name, UTF-8 text by its bytes, else nothing that it would open. */
export function shownType(path: string, bytes: Uint8Array): string {
  return pictureType(path) ?? (isText(bytes) ? textType : unknownType);
}

function pictureType(path: string): string | undefined {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(pictureTypes, extension) ? pictureTypes[extension] : undefined;
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

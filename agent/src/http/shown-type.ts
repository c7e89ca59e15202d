import { extname } from 'node:path';

/** The largest text that is shown: larger ones cannot be compared by eye, and a browser takes seconds for them. */
const textBytesMax = 2 * 1_048_576;

/** The largest picture that is shown: about the size of a camera's. */
const pictureBytesMax = 20 * 1_048_576;

/** The picture formats that every browser shows. SVG is not among them: it is text that can contain scripts. */
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

/** The most bytes of a file of this name that are served for display. */
export function shownBytesMax(path: string): number {
  return pictureType(path) === undefined ? textBytesMax : pictureBytesMax;
}

/** The media type for the browser: a picture by its name, UTF-8 text by its bytes, otherwise a type that it does not open. */
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

import { pictureType } from '@lockstep/shared/present';

export const textType = 'text/plain; charset=utf-8';
export const unknownType = 'application/octet-stream';

/**
 * The policy for a file of the folder that is opened on its own: no script, no style, no request. Only the dashboard's own pages can show
 * it.
 */
export const inertPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The media type for the browser: a picture by its name, UTF-8 text by its bytes, otherwise a type that it does not open. */
export function shownType(path: string, bytes: Uint8Array): string {
  return pictureType(path) ?? (isText(bytes) ? textType : unknownType);
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

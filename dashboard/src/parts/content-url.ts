import { apiPrefix } from '../live/use-api.ts';
import { encodePath } from './links.ts';

const pictureName = /\.(avif|bmp|gif|ico|jpe?g|png|webp)$/i;

/** True if a browser shows files of this name as pictures. */
export function isPicture(path: string): boolean {
  return pictureName.test(path);
}

/** The most bytes of a file of this name that the agent serves to be shown. */
export function shownBytesMax(path: string): number {
  return (isPicture(path) ? 20 : 2) * 1_048_576;
}

/** A version of a file. */
interface Version {
  readonly path: string;
  readonly origin: string;
  readonly seq: number;
}

/** The URL at which the agent serves the bytes of exactly this version. */
export function contentUrl({ path, origin, seq }: Version): string {
  return `${apiPrefix}/content/${encodePath(path)}?version=${encodeURIComponent(`${origin}:${seq}`)}`;
}

/** The URL of the same bytes as a file to be saved. */
export function downloadUrl(version: Version): string {
  return `${contentUrl(version)}&download=true`;
}

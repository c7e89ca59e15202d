import { apiPrefix } from '../live/use-api.ts';
import { encodePath } from './links.ts';

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

import type { Status } from '../api/status.ts';
import { formatBytes, formatCount, formatItems } from './units.ts';

/** `1,204 files, 436 MB`: what is on the disk of the answering member. One on demand says how many files there are in all. */
export function folderText({ files, bytes, cache }: Status): string {
  if (cache === undefined) return `${formatItems(files, 'file')}, ${formatBytes(bytes)}`;
  return `${formatCount(files)} of ${formatItems(files + cache.remoteFiles, 'file')} here, ${formatBytes(bytes)}`;
}

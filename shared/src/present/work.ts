import type { WorkReport } from '../api.ts';
import { formatCount, formatItems } from './units.ts';

const words: Readonly<Record<WorkReport['what'], string>> = { verify: 'verifying', replay: 'rebuilding' };

/** A work under way: `verifying: 1,204 of 5,499 paths`. */
export function workText({ what, done, total }: WorkReport): string {
  return `${words[what]}: ${formatCount(done)} of ${formatItems(total, 'path')}`;
}

import type { ContentId } from '@lockstep/shared';
import type { Folder } from '../ports/folder.ts';
import type { Log } from '../ports/log.ts';

/**
 * Those of the contents that history has. One at whose name the disk fails counts as not there: the others must not wait until that
 * disk is mended.
 */
export async function keptContents(
  { folder, log }: { readonly folder: Folder; readonly log: Log },
  contents: readonly ContentId[],
): Promise<ReadonlySet<ContentId>> {
  try {
    return await folder.inHistory(contents);
  } catch (error) {
    log.warn({ error: String(error) }, 'history cannot be looked up; each version is sought alone');
  }
  const kept = new Set<ContentId>();
  for (const content of contents) {
    const found = await folder.inHistory([content]).catch((): ReadonlySet<ContentId> => new Set());
    if (found.has(content)) kept.add(content);
  }
  return kept;
}
